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

#include <cstddef>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Rows are loaded in pairs: pair i has rows first_of_pair<W>(i) and so many more, n = 16/W.
template <std::size_t W>
constexpr std::size_t first_of_pair(std::size_t i) {
  constexpr std::size_t n = 16 / W;
  return i / n * 2 * n + i % n;
}

// Makes 16/W columns of 64/W rows. Vector load_pair(i) has 16 bytes of each row of pair i, side by side.
// Column c goes to to(c).
template <std::size_t W, bool streamed, class Load, class To>
HWY_INLINE void make_lines(const Load& load_pair, const To& to) {
  constexpr std::size_t n = 16 / W;
  hn::Vec<Widest> lower[n], upper[n];
  for (std::size_t i = 0; i < n; ++i) lower[i] = load_pair(i);
  transpose_within_blocks<W>(lower);
  for (std::size_t i = 0; i < n; ++i) upper[i] = load_pair(n + i);
  transpose_within_blocks<W>(upper);
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* const line = to(i);
    put<streamed>(widest, lower[i], line);
    put<streamed>(widest, upper[i], line + widest_bytes);
  }
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
    make_lines<W, false>(pair, to);
  }
};

// A block of 64/W rows of 64 bytes. Each row is loaded once. (Line tiles on AMD Zen 3, one thread, by Block
// and by Square, GB/s. Of 1, 2, 4 bytes: adjacent lines, 64 KiB, 14.6, 14.9, 15.2 and 25, 22, 24; in
// bit-reversed order, 64 KiB 6.5, 9.7, 11 and 12, 14, 14, 1 MiB 4.7, 6.9, 9.0 and 8.2, 8.5, 11.)
template <std::size_t W>
struct Square {
  static constexpr std::size_t n = 16 / W;
  static constexpr std::size_t rows = line_bytes / W, columns = rows;

  template <bool streamed = false, class At, class To>
  static HWY_INLINE void transpose(const At& at, const To& to) {
    constexpr std::size_t pieces = line_bytes / 16;
    HWY_ALIGN std::byte pairs[pieces][rows / 2][widest_bytes];
    for (std::size_t i = 0; i < rows / 2; ++i) {
      const std::size_t r = first_of_pair<W>(i);
      for (std::size_t p = 0; p < pieces; p += 2) {
        const auto one = load(widest, at(r) + p * 16), other = load(widest, at(r + n) + p * 16);
        store(widest, hn::ConcatLowerLower(widest, other, one), pairs[p][i]);
        store(widest, hn::ConcatUpperUpper(widest, other, one), pairs[p + 1][i]);
      }
    }
    for (std::size_t p = 0; p < pieces; ++p) {
      make_lines<W, streamed>([&](std::size_t i) HWY_ATTR { return load(widest, pairs[p][i]); },
                              [&](std::size_t c) { return to(p * n + c); });
    }
  }
};

#endif

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
