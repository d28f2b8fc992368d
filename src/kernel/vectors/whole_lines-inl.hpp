// Transposes blocks whose columns are whole lines, where a line is two vectors, for the files that Highway
// compiles once for each kind of processor.
//
// Lines that share few sets of the cache leave it before their second halves are read or written, unless both
// halves are read and written at once.
#if defined(XORDER_KERNEL_VECTORS_WHOLE_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef XORDER_KERNEL_VECTORS_WHOLE_LINES_INL
#undef XORDER_KERNEL_VECTORS_WHOLE_LINES_INL
#else
#define XORDER_KERNEL_VECTORS_WHOLE_LINES_INL
#endif

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

constexpr bool line_is_two_vectors = widest_bytes == line_bytes / 2;

// Byte j of row f is j ^ f.
constexpr auto flipped_bytes = [] {
  std::array<std::array<std::byte, 16>, 16> bytes{};
  for (std::size_t f = 0; f < 16; ++f) {
    for (std::size_t j = 0; j < 16; ++j) bytes[f][j] = static_cast<std::byte>(j ^ f);
  }
  return bytes;
}();

// Rows are loaded in pairs: pair i has rows first_of_pair<W>(i) and so many more, n = 16/W.
template <std::size_t W>
constexpr std::size_t first_of_pair(std::size_t i) {
  constexpr std::size_t n = 16 / W;
  return i / n * 2 * n + i % n;
}

// Makes 16/W columns of 64/W rows. Vector load_pair(i) has 16 bytes of each row of pair i, side by side. The
// halves of column c go to put(c, lower, upper).
template <std::size_t W, class Load, class Put>
HWY_INLINE void make_lines(const Load& load_pair, const Put& put) {
  constexpr std::size_t n = 16 / W;
  hn::Vec<Widest> lower[n], upper[n];
  for (std::size_t i = 0; i < n; ++i) lower[i] = load_pair(i);
  transpose_within_blocks<W>(lower);
  for (std::size_t i = 0; i < n; ++i) upper[i] = load_pair(n + i);
  transpose_within_blocks<W>(upper);
  for (std::size_t i = 0; i < n; ++i) put(i, lower[i], upper[i]);
}

template <bool streamed>
HWY_INLINE void put_line(std::byte* line, hn::Vec<Widest> lower, hn::Vec<Widest> upper) {
  put<streamed>(widest, lower, line);
  put<streamed>(widest, upper, line + widest_bytes);
}

// A block of 64/W rows of 16 bytes. Row r is at at(r), and column c goes to to(c).
template <std::size_t W>
struct TallBlock {
  static constexpr std::size_t n = 16 / W;
  static constexpr std::size_t rows = line_bytes / W, columns = n;

  template <class At, class To>
  static HWY_INLINE void transpose(const At& at, const To& to) {
    const auto pair = [&](std::size_t i) HWY_ATTR {
      const std::size_t r = first_of_pair<W>(i);
      return load_pieces<16>(widest, [&](std::size_t piece) { return at(r + piece * n); });
    };
    make_lines<W>(pair, [&](std::size_t c, hn::Vec<Widest> lower, hn::Vec<Widest> upper)
                            HWY_ATTR { put_line<false>(to(c), lower, upper); });
  }
};

// 64/W rows of 64 bytes, as vectors that have 16 bytes of two rows side by side. Row r is at at(r), and
// column c goes to to(c).
template <std::size_t W>
class PairedRows {
 public:
  static constexpr std::size_t rows = line_bytes / W;

  template <class At>
  HWY_INLINE void read(const At& at) {
    for (std::size_t i = 0; i < rows / 2; ++i) {
      const std::size_t r = first_of_pair<W>(i);
      for (std::size_t p = 0; p < pieces; p += 2) {
        const auto one = load(widest, at(r) + p * 16), other = load(widest, at(r + n) + p * 16);
        pairs_[p][i] = hn::ConcatLowerLower(widest, other, one);
        pairs_[p + 1][i] = hn::ConcatUpperUpper(widest, other, one);
      }
    }
  }
  // Exchanges byte j of row r with byte j ^ flips[r] first.
  template <class At>
  HWY_INLINE void read_flipped(const At& at, const std::uint8_t* flips) {
    for (std::size_t i = 0; i < rows / 2; ++i) {
      const std::size_t r = first_of_pair<W>(i);
      const std::byte* const row[] = {at(r), at(r + n)};
      const std::size_t flip[] = {flips[r], flips[r + n]};
      const auto order =
          load_pieces<16>(widest, [&](std::size_t k) { return flipped_bytes[flip[k] % 16].data(); });
      for (std::size_t p = 0; p < pieces; ++p) {
        const auto piece = [&](std::size_t k) { return row[k] + ((p * 16) ^ (flip[k] & 48U)); };
        pairs_[p][i] = hn::TableLookupBytes(load_pieces<16>(widest, piece), order);
      }
    }
  }

  template <bool streamed, class To>
  HWY_INLINE void write(const To& to) const {
    make_columns([&](std::size_t c, hn::Vec<Widest> lower, hn::Vec<Widest> upper)
                     HWY_ATTR { put_line<streamed>(to(c), lower, upper); });
  }
  // Exchanges byte j of column c with byte j ^ flip(c).
  template <bool streamed, class To, class Flip>
  HWY_INLINE void write_flipped(const To& to, const Flip& flip) const {
    make_columns([&](std::size_t c, hn::Vec<Widest> lower, hn::Vec<Widest> upper) HWY_ATTR {
      const std::size_t f = flip(c);
      std::byte* const line = to(c);
      const auto order =
          hn::LoadDup128(widest, reinterpret_cast<const std::uint8_t*>(flipped_bytes[f % 16].data()));
      const auto put_part = [&](std::size_t part, auto bytes)
                                HWY_ATTR { put<streamed>(bytes16, bytes, line + ((part * 16) ^ (f & 48U))); };
      for_each_part(widest, hn::TableLookupBytes(lower, order), put_part);
      for_each_part<2>(widest, hn::TableLookupBytes(upper, order), put_part);
    });
  }

 private:
  static constexpr std::size_t n = 16 / W, pieces = line_bytes / 16;

  template <class Put>
  HWY_INLINE void make_columns(const Put& put) const {
    for (std::size_t p = 0; p < pieces; ++p) {
      make_lines<W>([&](std::size_t i) HWY_ATTR { return pairs_[p][i]; },
                    [&](std::size_t c, hn::Vec<Widest> lower, hn::Vec<Widest> upper)
                        HWY_ATTR { put(p * n + c, lower, upper); });
    }
  }

  hn::Vec<Widest> pairs_[pieces][rows / 2];
};

// A block of 64/W rows of 64 bytes. Each row is loaded once, and each line of the target is written at once:
// a Block writes its halves at different times, and a line that shares its set with many others has left the
// first level by then.
template <std::size_t W>
struct Square {
  static constexpr std::size_t rows = line_bytes / W, columns = rows;

  // Row r is at at(r), and column c goes to to(c).
  template <bool streamed = false, class At, class To>
  static HWY_INLINE void transpose(const At& at, const To& to) {
    PairedRows<W> paired;
    paired.read(at);
    paired.template write<streamed>(to);
  }
};

#endif

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
