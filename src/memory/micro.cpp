#include "memory/micro.hpp"

// Permuting bytes freely within 64 is one instruction from Ice Lake on.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/micro.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "memory/records.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::memory::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// No vectors to be had (Highway has no SSE2 before 1.0.5): plain loops.
template <bool streamed>
HWY_INLINE void copy_line(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, line_bytes);
}

HWY_INLINE void permute_line(const std::byte* from, std::byte* to, const LineOrder& order,
                             std::uint8_t flip) {
  for (std::size_t j = 0; j < line_bytes; ++j) to[j] = from[order.order[j] ^ flip];
}

template <bool streamed>
HWY_INLINE void write_permuted(std::byte* to, const std::byte* from, const LineOrder& order,
                               std::uint8_t flip) {
  permute_line(from, to, order, flip);
}

template <std::size_t W>
HWY_INLINE std::size_t transpose_blocks(const std::byte* const*, std::size_t, std::size_t, std::byte*,
                                        std::size_t) {
  return 0;
}

template <std::size_t B>
HWY_INLINE void transpose_lines(const std::byte* const* lines, std::byte* buffer) {
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    for (std::size_t b = 0; b < line_bytes / B; ++b)
      std::memcpy(buffer + b * line_bytes + a * B, lines[a] + b * B, B);
  }
}

template <std::size_t B>
void line_tile(const std::byte* const* lines, const LineOrder& before, const std::uint8_t* flips,
               std::byte* buffer) {
  std::byte permuted[line_bytes / B][line_bytes];
  const std::byte* rows[line_bytes / B];
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    rows[a] = lines[a];
    if (before.kind == LinePermutation::none) continue;
    permute_line(lines[a], permuted[a], before, flips[a]);
    rows[a] = permuted[a];
  }
  transpose_lines<B>(rows, buffer);
}

template <std::size_t W>
void transpose(const std::byte* const* rows, std::size_t count, std::size_t columns, std::byte* target,
               std::size_t pitch, std::size_t) {
  transpose_records(rows, count, columns, target, pitch, W);
}

#else

// Where the length of vectors is not known before the program runs, 16 bytes will do.
constexpr std::size_t widest_bytes =
    HWY_HAVE_SCALABLE ? 16 : std::min<std::size_t>(HWY_MAX_BYTES, line_bytes);
using Widest = hn::FixedTag<std::uint8_t, widest_bytes>;
constexpr Widest widest;
constexpr hn::FixedTag<std::uint8_t, 16> bytes16;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* p) {
  return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(p));
}
template <class D>
HWY_INLINE void store(D d, hn::Vec<D> v, std::byte* p) {
  hn::StoreU(v, d, reinterpret_cast<std::uint8_t*>(p));
}
template <bool streamed, class D>
HWY_INLINE void put(D d, hn::Vec<D> v, std::byte* p) {
  if constexpr (streamed) {
    hn::Stream(v, d, reinterpret_cast<std::uint8_t*>(p));
  } else {
    store(d, v, p);
  }
}

template <bool streamed>
HWY_INLINE void copy_line(std::byte* to, const std::byte* from) {
  for (std::size_t i = 0; i < line_bytes; i += widest_bytes)
    put<streamed>(widest, load(widest, from + i), to + i);
}

// Transposes 16/W vectors of blocks of 16/W elements, within each block of 16 bytes. Each round is a perfect shuffle of the
// vectors' elements: the top bit of the row's number moves below the lowest bit of the lane's, whose top bit moves below the
// lowest bit of the row's; after lg(16/W) rounds rows and lanes have changed places.
template <std::size_t W, class V>
HWY_INLINE void transpose_within_blocks(V (&v)[16 / W]) {
  if constexpr (W < 16) {
    using Element = hwy::UnsignedFromSize<W>;
    constexpr std::size_t n = 16 / W;
    const hn::DFromV<V> bytes;
    const hn::Repartition<Element, hn::DFromV<V> > d;
    for (std::size_t round = 1; round < n; round *= 2) {
      V next[n];
      for (std::size_t i = 0; i < n / 2; ++i) {
        const auto a = hn::BitCast(d, v[i]);
        const auto b = hn::BitCast(d, v[i + n / 2]);
        next[2 * i] = hn::BitCast(bytes, hn::InterleaveLower(d, a, b));
        next[2 * i + 1] = hn::BitCast(bytes, hn::InterleaveUpper(d, a, b));
      }
      for (std::size_t i = 0; i < n; ++i) v[i] = next[i];
    }
  }
}

// A block of `rows` × `columns` elements of W bytes in vectors of N bytes, each of which holds a piece of a row. The pieces of
// the target rows have `piece` bytes: as many as the registers allow.
template <std::size_t W, std::size_t N>
struct Block {
  static constexpr std::size_t n = 16 / W;
  static constexpr std::size_t lanes = N / 16;
  static constexpr std::size_t groups = std::min(lanes, 16 / n);
  static constexpr std::size_t rows = n * groups;
  static constexpr std::size_t columns = N / W;
  static constexpr std::size_t piece = 16 * groups;
  using D = hn::FixedTag<std::uint8_t, N>;
  using V = hn::Vec<D>;

  template <class Load>
  static HWY_INLINE void transpose(const Load& load_row, std::byte* target, std::size_t pitch) {
    V v[groups][n];
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t i = 0; i < n; ++i) v[g][i] = load_row(g * n + i);
      transpose_within_blocks<W>(v[g]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const auto column = [&](std::size_t lane) { return target + (lane * n + i) * pitch; };
      if constexpr (groups == 4) {
        const V low01 = even(v[0][i], v[1][i]), high01 = odd(v[0][i], v[1][i]);
        const V low23 = even(v[2][i], v[3][i]), high23 = odd(v[2][i], v[3][i]);
        const D d;
        store(d, hn::ConcatLowerLower(d, low23, low01), column(0));
        store(d, hn::ConcatLowerLower(d, high23, high01), column(1));
        store(d, hn::ConcatUpperUpper(d, low23, low01), column(2));
        store(d, hn::ConcatUpperUpper(d, high23, high01), column(3));
      } else if constexpr (groups == 2 && lanes == 4) {
        const V low = even(v[0][i], v[1][i]), high = odd(v[0][i], v[1][i]);
        store_halves(low, column(0), column(2));
        store_halves(high, column(1), column(3));
      } else if constexpr (groups == 2) {
        const D d;
        store(d, hn::ConcatLowerLower(d, v[1][i], v[0][i]), column(0));
        store(d, hn::ConcatUpperUpper(d, v[1][i], v[0][i]), column(1));
      } else if constexpr (lanes == 4) {
        const hn::Half<D> half;
        store_halves(hn::LowerHalf(half, v[0][i]), column(0), column(1));
        store_halves(hn::UpperHalf(half, v[0][i]), column(2), column(3));
      } else if constexpr (lanes == 2) {
        store_halves(v[0][i], column(0), column(1));
      } else {
        store(D(), v[0][i], column(0));
      }
    }
  }

 private:
  // a0 b0 a2 b2 and a1 b1 a3 b3 of blocks a0 .. a3 and b0 .. b3.
  static HWY_INLINE V even(V a, V b) { return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a); }
  static HWY_INLINE V odd(V a, V b) { return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)); }
  template <class W2>
  static HWY_INLINE void store_halves(W2 v, std::byte* lower, std::byte* upper) {
    const hn::Half<hn::DFromV<W2> > half;
    store(half, hn::LowerHalf(half, v), lower);
    store(half, hn::UpperHalf(half, v), upper);
  }
};

// Everything in blocks; the last ones overlap those before them. Requires at least one block each way.
template <std::size_t W, std::size_t N>
HWY_INLINE void transpose_in_blocks(const std::byte* const* rows, std::size_t count, std::size_t columns,
                                    std::byte* target, std::size_t pitch) {
  using B = Block<W, N>;
  const typename B::D d;
  for (std::size_t r = 0; r < count; r += B::rows) {
    const std::size_t row = std::min(r, count - B::rows);
    const std::byte* const* const from = rows + row;

    for (std::size_t c = 0; c < columns; c += B::columns) {
      const std::size_t column = std::min(c, columns - B::columns);

      for (std::size_t i = 0; i < B::rows; ++i) prefetch(from[i] + column * W + bytes_ahead);
      B::transpose([&](std::size_t i) HWY_ATTR { return load(d, from[i] + column * W); },
                   target + column * pitch + row * W, pitch);
    }
  }
}

template <std::size_t W>
void transpose(const std::byte* const* rows, std::size_t count, std::size_t columns, std::byte* target,
               std::size_t pitch, std::size_t) {
  using Large = Block<W, widest_bytes>;
  using Small = Block<W, 16>;
  if (count >= Large::rows && columns >= Large::columns) {
    transpose_in_blocks<W, widest_bytes>(rows, count, columns, target, pitch);
  } else if (count >= Small::rows && columns >= Small::columns) {
    transpose_in_blocks<W, 16>(rows, count, columns, target, pitch);
  } else {
    transpose_records(rows, count, columns, target, pitch, W);
  }
}

// The permutation of one line, in registers of 16 bytes, or in one where there is an instruction for that.
#if HWY_TARGET == HWY_AVX3_DL

template <class Put>
HWY_INLINE void permute_line(const std::byte* from, const LineOrder& order, std::uint8_t flip,
                             const Put& put_at) {
  const auto index = hn::Xor(hn::Load(widest, order.order), hn::Set(widest, flip));
  put_at(0, widest, hn::Vec<Widest>{_mm512_permutexvar_epi8(index.raw, load(widest, from).raw)});
}

#else

template <class Put>
HWY_INLINE void permute_line(const std::byte* from, const LineOrder& order, std::uint8_t flip,
                             const Put& put_at) {
  constexpr std::size_t pieces = line_bytes / 16;
  const auto flips = hn::Set(bytes16, flip);
  if (order.kind == LinePermutation::by_piece) {
    for (std::size_t j = 0; j < line_bytes; j += 16) {
      const auto index = hn::Xor(hn::Load(bytes16, order.order + j), flips);
      const std::size_t piece = (order.order[j] ^ flip) & 48U;
      put_at(j, bytes16,
             hn::TableLookupBytes(load(bytes16, from + piece), hn::And(index, hn::Set(bytes16, 15))));
    }
    return;
  }
  hn::Vec<decltype(bytes16)> line[pieces];
  for (std::size_t i = 0; i < pieces; ++i) line[i] = load(bytes16, from + 16 * i);
  for (std::size_t j = 0; j < line_bytes; j += 16) {
    const auto index = hn::Xor(hn::Load(bytes16, order.order + j), flips);
    auto result = hn::Zero(bytes16);
    for (std::size_t i = 0; i < pieces; ++i) {
      // In this piece: 0x70 to 0x7f, of which the lookup sees 0 to 15. In another: 0x80 and more, which gives 0.
      const auto here = hn::Xor(index, hn::Set(bytes16, static_cast<std::uint8_t>(16 * i)));
      result = hn::Or(result, hn::TableLookupBytesOr0(line[i], hn::Add(here, hn::Set(bytes16, 0x70))));
    }
    put_at(j, bytes16, result);
  }
}

#endif

struct PutInBuffer {
  std::byte* to;
  template <class D>
  HWY_INLINE void operator()(std::size_t at, D d, hn::Vec<D> v) const {
    store(d, v, to + at);
  }
};
template <bool streamed>
struct PutInTarget {
  std::byte* to;
  template <class D>
  HWY_INLINE void operator()(std::size_t at, D d, hn::Vec<D> v) const {
    put<streamed>(d, v, to + at);
  }
};

template <bool streamed>
HWY_INLINE void write_permuted(std::byte* to, const std::byte* from, const LineOrder& order,
                               std::uint8_t flip) {
  permute_line(from, order, flip, PutInTarget<streamed>{to});
}

template <std::size_t B>
HWY_INLINE void transpose_lines(const std::byte* const* lines, std::byte* buffer) {
  if constexpr (B > 16) {
    for (std::size_t a = 0; a < line_bytes / B; ++a) {
      for (std::size_t b = 0; b < line_bytes / B; ++b)
        std::memcpy(buffer + b * line_bytes + a * B, lines[a] + b * B, B);
    }
  } else {
    using K = Block<B, widest_bytes>;
    const typename K::D d;
    for (std::size_t r = 0; r < line_bytes / B; r += K::rows) {
      for (std::size_t c = 0; c < line_bytes / B; c += K::columns) {
        K::transpose([&](std::size_t i) HWY_ATTR { return load(d, lines[r + i] + c * B); },
                     buffer + c * line_bytes + r * B, line_bytes);
      }
    }
  }
}

template <std::size_t B>
void line_tile(const std::byte* const* lines, const LineOrder& before, const std::uint8_t* flips,
               std::byte* buffer) {
  if (before.kind == LinePermutation::none) {
    transpose_lines<B>(lines, buffer);
    return;
  }
#if HWY_TARGET == HWY_AVX3_DL
  if constexpr (B <= 16) {  // a line is one register: permute on the way into it
    using K = Block<B, widest_bytes>;
    const auto order = hn::Load(widest, before.order);
    for (std::size_t r = 0; r < line_bytes / B; r += K::rows) {
      const auto load_row = [&](std::size_t i) HWY_ATTR {
        const auto index = hn::Xor(order, hn::Set(widest, flips[r + i]));
        return hn::Vec<Widest>{_mm512_permutexvar_epi8(index.raw, load(widest, lines[r + i]).raw)};
      };
      K::transpose(load_row, buffer + r * B, line_bytes);
    }
    return;
  }
#endif
  HWY_ALIGN std::byte permuted[line_bytes / B][line_bytes];
  const std::byte* rows[line_bytes / B];
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    permute_line(lines[a], before, flips[a], PutInBuffer{permuted[a]});
    rows[a] = permuted[a];
  }
  transpose_lines<B>(rows, buffer);
}

#endif  // HWY_TARGET == HWY_SCALAR

TransposeFunction transpose_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose<1>;
    case 2:
      return transpose<2>;
    case 4:
      return transpose<4>;
    case 8:
      return transpose<8>;
    case 16:
      return transpose<16>;
    default:
      return transpose_records;
  }
}

LineTileFunction line_tile_of(int lg_lines) {
  constexpr LineTileFunction functions[] = {line_tile<64>, line_tile<32>, line_tile<16>, line_tile<8>,
                                            line_tile<4>,  line_tile<2>,  line_tile<1>};
  return functions[lg_lines];
}

template <bool streamed>
void write_segment(const Segment& s, const LineOrder& after) {
  if (after.kind == LinePermutation::none) {
    for (std::size_t i = 0; i < s.count; ++i) {
      copy_line<streamed>(s.target + i * line_bytes, s.buffer + s.lines[i ^ s.line_flip] * line_bytes);
    }
    return;
  }
  for (std::size_t i = 0; i < s.count; ++i) {
    const std::size_t line = s.lines[i ^ s.line_flip];
    const auto flip = static_cast<std::uint8_t>(s.line_flips[line] ^ s.flip);
    write_permuted<streamed>(s.target + i * line_bytes, s.buffer + line * line_bytes, after, flip);
  }
}
SegmentFunction segment_of(bool streamed) { return streamed ? write_segment<true> : write_segment<false>; }

HWY_INLINE std::size_t to_line_end(const std::byte* p) {
  return -reinterpret_cast<std::uintptr_t>(p) % line_bytes;
}

template <bool streamed>
void write_rows(const RowsOut& out) {
  for (std::size_t c = 0; c < out.rows; ++c) {
    std::byte* to = out.target + c * out.target_pitch;
    const std::byte* from = out.buffer + c * out.pitch;
    const std::byte* const end = from + out.bytes;
    if (out.first) {
      const std::size_t head = std::min(to_line_end(to), out.bytes);
      if (head != 0) std::memcpy(to, from, head);
      to += head;
      from += head;
    } else {
      const std::size_t back = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
      to -= back;
      from -= back;
    }
    for (; from + line_bytes <= end; from += line_bytes, to += line_bytes) copy_line<streamed>(to, from);
    if (out.last && from != end) std::memcpy(to, from, static_cast<std::size_t>(end - from));
  }
}
RowsOutFunction rows_out_of(bool streamed) { return streamed ? write_rows<true> : write_rows<false>; }

void copy_streamed(std::byte* target, const std::byte* source, std::size_t bytes) {
  const std::size_t head = std::min(to_line_end(target), bytes);
  std::memcpy(target, source, head);
  std::size_t i = head;
  for (; i + line_bytes <= bytes; i += line_bytes) copy_line<true>(target + i, source + i);
  std::memcpy(target + i, source + i, bytes - i);
}
void copy_plain(std::byte* target, const std::byte* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}
CopyFunction copy_of(bool streamed) { return streamed ? copy_streamed : copy_plain; }

}  // namespace xorder::memory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::memory {

HWY_EXPORT(transpose_of);
HWY_EXPORT(line_tile_of);
HWY_EXPORT(segment_of);
HWY_EXPORT(rows_out_of);
HWY_EXPORT(copy_of);

TransposeFunction transpose_function(std::size_t element_bytes) {
  return HWY_DYNAMIC_DISPATCH(transpose_of)(element_bytes);
}
LineTileFunction line_tile_function(int lg_lines) { return HWY_DYNAMIC_DISPATCH(line_tile_of)(lg_lines); }
SegmentFunction segment_function(bool streamed) { return HWY_DYNAMIC_DISPATCH(segment_of)(streamed); }
RowsOutFunction rows_out_function(bool streamed) { return HWY_DYNAMIC_DISPATCH(rows_out_of)(streamed); }
CopyFunction copy_function(bool streamed) { return HWY_DYNAMIC_DISPATCH(copy_of)(streamed); }

void finish_streams() { hwy::FlushStream(); }

}  // namespace xorder::memory
#endif
