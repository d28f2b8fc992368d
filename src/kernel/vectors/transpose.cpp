#include "kernel/vectors/transpose.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/transpose.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kernel/records.hpp"
#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

TransposeFunction transpose_of(std::size_t, bool) { return transpose_records; }
TransposeFunction transpose_ahead_of(std::size_t, std::size_t, std::size_t) { return nullptr; }
SplitFunction split_of(std::size_t, std::size_t) { return nullptr; }

#else

// Copies element by element.
template <std::size_t W>
HWY_INLINE void copy_elements(const std::byte* const* rows, std::size_t count, std::size_t column,
                              std::size_t columns, std::byte* target, std::size_t pitch) {
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = column; c < columns; ++c)
      std::memcpy(target + c * pitch + r * W, rows[r] + c * W, W);
  }
}

// So many rows or columns that are left are not worth a block of vectors of N bytes. (Many matrices of 33 x
// 33 elements of 2 bytes in the cache, AMD Zen 4: 11.5 to 21 GB/s.)
template <std::size_t N>
constexpr std::size_t copied_rows = N / 32;
template <std::size_t N>
constexpr std::size_t copied_columns = N / 32 != 0 ? 1 : 0;

// Transposes in blocks. The last blocks overlap those before them, unless so little is left that it is copied
// element by element. Requires at least one block in each direction.
template <class B, std::size_t W>
HWY_INLINE void transpose_in_blocks(const std::byte* const* rows, std::size_t count, std::size_t columns,
                                    std::byte* target, std::size_t pitch, bool fetching) {
  constexpr bool few = B::rows <= 8;
  if (const std::size_t left = columns % B::columns; left <= copied_columns<B::rows * W>) {
    columns -= left;
    copy_elements<W>(rows, count, columns, columns + left, target, pitch);
  }
  if (const std::size_t left = count % B::rows; left <= copied_rows<B::rows * W>) {
    count -= left;
    copy_elements<W>(rows + count, left, 0, columns, target + count * W, pitch);
  }
  for (std::size_t r = 0; r < count; r += B::rows) {
    const std::size_t row = std::min(r, count - B::rows);
    const std::byte* const* from = rows + row;
    const std::byte* copied[B::rows];  // they stay in registers
    if constexpr (few) {
      for (std::size_t i = 0; i < B::rows; ++i) copied[i] = from[i];
      from = copied;
    }
    for (std::size_t c = 0; c < columns; c += B::columns) {
      const std::size_t column = std::min(c, columns - B::columns);
      if (fetching && c * W % line_bytes == 0) {
        for (std::size_t i = 0; i < B::rows; ++i) prefetch(from[i] + column * W + bytes_ahead);
      }
      std::byte* const to = target + column * pitch + row * W;
      B::transpose([&](std::size_t r2) { return from[r2] + column * W; },
                   [&](std::size_t c2) { return to + c2 * pitch; });
    }
  }
}

// A block of elements of w bytes, 3 or 5 to 7, which are W bytes wide in registers. A piece of a row has P
// bytes, of which the block's columns take the first ones.
template <std::size_t w, std::size_t N>
struct PackedBlock {
  static constexpr std::size_t W = std::bit_ceil(w), P = std::max<std::size_t>(16, N / 2);
  using Wide = Block<W, N, P>;
  using V = typename Wide::V;
  static constexpr std::size_t columns = Wide::columns, rows = Wide::rows, piece = P;

  // Row r is at at(r) + back. Nothing is read but P bytes from each at(r) on. Column c goes to to(c).
  template <class At, class To>
  static HWY_INLINE void transpose(const At& at, std::size_t back, const To& to) {
    const typename Wide::D d;
    const V order = hn::Add(hn::LoadU(d, widened.data()), hn::Set(d, static_cast<std::uint8_t>(back)));
    Wide::transpose(
        at, [&](V v) HWY_ATTR { return permuted(d, v, order); },
        [&](std::size_t c, V v) HWY_ATTR { store_packed(v, to(c)); });
  }

 private:
  using Order = std::array<std::uint8_t, N>;
  static constexpr std::size_t register_bytes = N == 64 ? 64 : 16;  // permuted at once
  // Byte j of the wide elements is byte widened[j] of the pieces, for bytes that are used.
  static constexpr Order widened = [] {
    Order order{};
    for (std::size_t j = 0; j < N; ++j)
      order[j] =
          static_cast<std::uint8_t>(j % W < w ? j / P * P % register_bytes + j % P / W * w + j % W : 0);
    return order;
  }();
  // And the other way round, in each register.
  static constexpr Order packed = [] {
    Order order{};
    for (std::size_t j = 0; j < N; ++j) {
      const std::size_t at = j % register_bytes;
      order[j] = static_cast<std::uint8_t>(at < register_bytes / W * w ? at / w * W + at % w : 0);
    }
    return order;
  }();

  // Stores `rows` elements, and nothing else.
  static HWY_INLINE void store_packed(V v, std::byte* to) {
    const typename Wide::D d;
    const V narrow = permuted(d, v, hn::LoadU(d, packed.data()));
#if HWY_TARGET == HWY_AVX3_DL
    if constexpr (N == 64) {
      _mm512_mask_storeu_epi8(to, (std::uint64_t{1} << (rows * w)) - 1, narrow.raw);
      return;
    }
#endif
    constexpr std::size_t used = 16 / W * w;
    for_each_part(d, narrow, [&](std::size_t part, auto bytes) HWY_ATTR {
      if (part + 1 < N / 16) {
        store(bytes16, bytes, to + part * used);  // the next part overwrites what is too much
        return;
      }
      std::byte last[16];
      store(bytes16, bytes, last);
      std::memcpy(to + part * used, last, used);
    });
  }
};

// As transpose_in_blocks. Requires at least a piece in each row.
template <class B, std::size_t w>
HWY_INLINE void transpose_in_packed_blocks(const std::byte* const* rows, std::size_t count,
                                           std::size_t columns, std::byte* target, std::size_t pitch,
                                           bool fetching) {
  for (std::size_t r = 0; r < count; r += B::rows) {
    const std::size_t row = std::min(r, count - B::rows);
    const std::byte* const* const from = rows + row;
    std::size_t asked = 0;
    for (std::size_t c = 0; c < columns; c += B::columns) {
      for (; fetching && asked <= c * w; asked += line_bytes) {
        for (std::size_t i = 0; i < B::rows; ++i) prefetch(from[i] + asked + bytes_ahead);
      }
      const std::size_t column = std::min(c, columns - B::columns);
      const std::size_t at = std::min(column * w, columns * w - B::piece);
      std::byte* const to = target + column * pitch + row * w;
      B::transpose([&](std::size_t r2) { return from[r2] + at; }, column * w - at,
                   [&](std::size_t c2) { return to + c2 * pitch; });
    }
  }
}

template <std::size_t w>
void transpose_packed(const std::byte* const* rows, std::size_t count, std::size_t columns, std::byte* target,
                      std::size_t pitch, std::size_t, bool fetching) {
  const auto with = [&](auto block) {
    if (count < block.rows || columns * w < block.piece) return false;
    transpose_in_packed_blocks<decltype(block), w>(rows, count, columns, target, pitch, fetching);
    return true;
  };
  // Bytes of 64 are permuted by one instruction, or not at all.
  constexpr std::size_t wide = HWY_TARGET == HWY_AVX3_DL ? 64 : std::min<std::size_t>(32, widest_bytes);
  if (with(PackedBlock<w, wide>()) || with(PackedBlock<w, 16>())) return;
  transpose_records(rows, count, columns, target, pitch, w, fetching);
}

// Matrices of few columns, k ≤ K, whose rows follow each other. A load of 16 bytes has 16/(K W) whole rows. A
// shuffle makes K columns of them, some of which are unused. K of these vectors are transposed like a block
// of elements of 16/K bytes. join() does the reverse. Blocks have N/W rows.
template <std::size_t W, std::size_t K, std::size_t N>
struct Narrow {
  static constexpr std::size_t in_piece = 16 / (K * W);  // rows
  static constexpr std::size_t rows = N / W;
  using D = hn::FixedTag<std::uint8_t, N>;
  using V = hn::Vec<D>;
  // Byte j of the result comes from byte order[j]; 0x80 marks an unused byte.
  using Order = std::array<std::uint8_t, 16>;

  static constexpr Order to_columns(std::size_t k) {
    Order order{};
    order.fill(0x80);
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t r = 0; r < in_piece; ++r) {
        for (std::size_t b = 0; b < W; ++b)
          order[(c * in_piece + r) * W + b] = static_cast<std::uint8_t>((r * k + c) * W + b);
      }
    }
    return order;
  }
  static constexpr Order inverse(const Order& order) {
    Order back{};
    back.fill(0x80);
    for (std::size_t i = 0; i < 16; ++i) {
      if (order[i] < 16) back[order[i]] = static_cast<std::uint8_t>(i);
    }
    return back;
  }
  static constexpr auto columns_of = [] {
    std::array<Order, K + 1> all{};
    for (std::size_t k = 1; k <= K; ++k) all[k] = to_columns(k);
    return all;
  }();
  static constexpr auto rows_of = [] {
    std::array<Order, K + 1> all{};
    for (std::size_t k = 1; k <= K; ++k) all[k] = inverse(columns_of[k]);
    return all;
  }();

  static HWY_INLINE V shuffled(V v, const Order& order) {
    if constexpr (in_piece == 1) {
      return v;
    } else {
      return hn::TableLookupBytes(v, hn::LoadDup128(D(), order.data()));
    }
  }

  // Reads up to 16 bytes beyond the block.
  static HWY_INLINE void split_block(const std::byte* source, std::size_t k, std::byte* target,
                                     std::size_t pitch) {
    const D d;
    V v[K];
    for (std::size_t i = 0; i < K; ++i, source += in_piece * k * W) {
      v[i] = shuffled(load_pieces<16>(d, [&](std::size_t piece) { return source + piece * 16 * k; }),
                      columns_of[k]);
    }
    transpose_within_blocks<16 / K>(v);
    for (std::size_t c = 0; c < K; ++c) {
      if (c < k) store(d, v[c], target + c * pitch);
    }
  }
  // Writes up to 16 bytes beyond the block.
  static HWY_INLINE void join_block(const std::byte* const* columns, std::size_t at, std::size_t k,
                                    std::byte* target) {
    const D d;
    V v[K];
    for (std::size_t c = 0; c < K; ++c) v[c] = load(d, columns[c < k ? c : 0] + at);
    transpose_within_blocks<16 / K>(v);
    for (std::size_t m = 0; m < K; ++m) v[m] = shuffled(v[m], rows_of[k]);
    store_lanes(v, in_piece * k * W, target);
  }

  // Blocks near the end go through local buffers, so that nothing beyond the arrays is read or written.
  static void split(const std::byte* source, std::size_t count, std::size_t k, std::byte* target,
                    std::size_t pitch) {
    for (std::size_t r = 0; r < count; r += rows, source += rows * k * W, target += rows * W) {
      if (count - r >= rows + 16) {
        split_block(source, k, target, pitch);
        continue;
      }
      const std::size_t some = std::min(rows, count - r);
      std::byte in[N * K + 16], out[N * K];
      std::memcpy(in, source, some * k * W);
      split_block(in, k, out, N);
      for (std::size_t c = 0; c < k; ++c) std::memcpy(target + c * pitch, out + c * N, some * W);
    }
  }
  static void join(const std::byte* const* columns, std::size_t k, std::size_t count, std::byte* target) {
    for (std::size_t r = 0; r < count; r += rows, target += rows * k * W) {
      if (count - r >= rows + 16) {
        join_block(columns, r * W, k, target);
        continue;
      }
      const std::size_t some = std::min(rows, count - r);
      std::byte in[N * K], out[N * K + 16];
      const std::byte* copied[K] = {};
      for (std::size_t c = 0; c < k; ++c) {
        copied[c] = in + c * N;
        std::memcpy(in + c * N, columns[c] + r * W, some * W);
      }
      join_block(copied, 0, k, out);
      std::memcpy(target, out, some * k * W);
    }
  }

 private:
  // Stores the first `bytes` bytes of lane l of each vector, one after the other, then those of lane l + 1.
  template <class V2>
  static HWY_INLINE std::byte* store_lanes(const V2 (&v)[K], std::size_t bytes, std::byte* target) {
    const hn::DFromV<V2> d;
    if constexpr (hn::MaxLanes(d) == 16) {
      for (std::size_t m = 0; m < K; ++m, target += bytes) store(d, v[m], target);
      return target;
    } else {
      const hn::Half<hn::DFromV<V2> > half;
      hn::Vec<decltype(half)> part[K];
      for (std::size_t m = 0; m < K; ++m) part[m] = hn::LowerHalf(half, v[m]);
      target = store_lanes(part, bytes, target);
      for (std::size_t m = 0; m < K; ++m) part[m] = hn::UpperHalf(half, v[m]);
      return store_lanes(part, bytes, target);
    }
  }
};

// Calls body with the Narrow for this number of columns. Returns whether there is one.
template <std::size_t W, class Body>
bool with_narrow(std::size_t columns, const Body& body) {
  const std::size_t k = std::bit_ceil(columns);
  const auto is = [&](auto narrow, std::size_t width) {
    if (k == width) body(narrow);
    return k == width;
  };
  if constexpr (W <= 8) {
    if (is(Narrow<W, 2, widest_bytes>(), 2)) return true;
  }
  if constexpr (W <= 4) {
    if (is(Narrow<W, 4, widest_bytes>(), 4)) return true;
  }
  if constexpr (W <= 2) {
    if (is(Narrow<W, 8, widest_bytes>(), 8)) return true;
  }
  if constexpr (W <= 1) {
    if (is(Narrow<W, 16, widest_bytes>(), 16)) return true;
  }
  return false;
}

// Copies 2 to 15 bytes.
HWY_INLINE void copy_few(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto ends = [&](auto word) HWY_ATTR {
    auto last = word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(&last, from + bytes - sizeof word, sizeof word);
    std::memcpy(to, &word, sizeof word);
    std::memcpy(to + bytes - sizeof word, &last, sizeof word);
  };
  if (bytes >= 8) {
    ends(std::uint64_t{});
  } else if (bytes >= 4) {
    ends(std::uint32_t{});
  } else {
    ends(std::uint16_t{});
  }
}

// Splits rows of 2 to 15 bytes that lie anywhere: some of them are put side by side first. (15 columns of 1
// byte, 64 MiB on AMD Zen 4: 2.2 to 4.4 GB/s.)
template <std::size_t W, class Split>
void split_rows(const Split& narrow, const std::byte* const* rows, std::size_t count, std::size_t columns,
                std::byte* target, std::size_t pitch) {
  constexpr std::size_t together = 4 * Split::rows;
  std::byte adjacent[together * 16];
  for (std::size_t r = 0; r < count; r += together) {
    const std::size_t some = std::min(together, count - r);
    for (std::size_t i = 0; i < some; ++i) copy_few(adjacent + i * columns * W, rows[r + i], columns * W);
    narrow.split(adjacent, some, columns, target + r * W, pitch);
  }
}

template <std::size_t W, bool by_lines>
void transpose(const std::byte* const* rows, std::size_t count, std::size_t columns, std::byte* target,
               std::size_t pitch, std::size_t, bool fetching) {
  // Joining few columns takes a detour, so they are transposed in blocks if they fill one. (Matrices of 16 x
  // 16 bytes in 64 KiB, AMD Zen 3: 1.6 to 4 GB/s.)
  const bool in_blocks = count * W >= 16 && columns * W >= 16 && columns < widest_bytes / W + 16;
  if (pitch == count * W && !in_blocks) {
    if (with_narrow<W>(count, [&](auto narrow) { narrow.join(rows, count, columns, target); })) return;
  }
  const auto with = [&](auto block) {
    if (count < block.rows || columns < block.columns) return false;
    transpose_in_blocks<decltype(block), W>(rows, count, columns, target, pitch, fetching);
    return true;
  };
  constexpr std::size_t wide = std::min<std::size_t>(32, widest_bytes);
  if constexpr (by_lines) {
    if (with(FlatBlock<W, widest_bytes>())) return;
  }
  if (with(Block<W, widest_bytes>()) || with(Block<W, widest_bytes, 16>()) || with(Block<W, wide>()) ||
      with(Block<W, 16>()))
    return;
  if (columns >= 2 && columns * W < 16) {
    if (with_narrow<W>(columns,
                       [&](auto narrow) { split_rows<W>(narrow, rows, count, columns, target, pitch); }))
      return;
  }
  transpose_records(rows, count, columns, target, pitch, W, fetching);
}

TransposeFunction transpose_of(std::size_t element_bytes, bool by_lines) {
  switch (element_bytes) {
    case 1:
      return transpose<1, true>;
    case 2:
      return by_lines ? transpose<2, true> : transpose<2, false>;
    case 4:
      return by_lines ? transpose<4, true> : transpose<4, false>;
    case 8:
      return transpose<8, false>;
    case 16:
      return transpose<16, false>;
    case 3:
      return transpose_packed<3>;
    case 5:
      return transpose_packed<5>;
    case 6:
      return transpose_packed<6>;
    case 7:
      return transpose_packed<7>;
    default:
      return transpose_records;
  }
}

// Transposes fewer rows than a block has.
template <class B, std::size_t W>
void transpose_ahead(const std::byte* const* rows, std::size_t count, std::size_t columns, std::byte* target,
                     std::size_t pitch, std::size_t, bool) {
  const std::size_t left = columns % B::columns <= copied_columns<B::rows * W> ? columns % B::columns : 0;
  const std::size_t in_blocks = columns - left;
  for (std::size_t c = 0; c < in_blocks; c += B::columns) {
    const std::size_t column = std::min(c, in_blocks - B::columns);
    std::byte* const to = target + column * pitch;
    B::transpose([&](std::size_t r) { return rows[r] + column * W; },
                 [&](std::size_t c2) { return to + c2 * pitch; });
  }
  copy_elements<W>(rows, count, in_blocks, columns, target, pitch);
}

template <std::size_t W>
TransposeFunction transpose_ahead_by(std::size_t count, std::size_t columns) {
  constexpr std::size_t least = 16 / W, half = widest_bytes / 2 / W, whole = widest_bytes / W;
  // Where a column has little more than half a vector, two smaller blocks are faster. (38 rows of single
  // bytes in 64 KiB on AMD Zen 4: 20.9 GB/s, 17.5 in one block.)
  constexpr std::size_t longer = W == 1 ? half / 2 : copied_rows<widest_bytes / 2>;
  TransposeFunction function = nullptr;
  const auto with = [&](auto block) {
    if (count < block.rows && columns >= block.columns) function = transpose_ahead<decltype(block), W>;
    return function != nullptr;
  };
  if (count <= least || (count >= half && count <= half + longer) || count >= whole) return nullptr;
  (void)(with(Block<W, std::min<std::size_t>(32, widest_bytes)>()) || with(Block<W, widest_bytes>()) ||
         with(Block<W, widest_bytes, 16>()));
  return function;
}

TransposeFunction transpose_ahead_of(std::size_t element_bytes, std::size_t count, std::size_t columns) {
  switch (element_bytes) {
    case 1:
      return transpose_ahead_by<1>(count, columns);
    case 2:
      return transpose_ahead_by<2>(count, columns);
    case 4:
      return transpose_ahead_by<4>(count, columns);
    default:
      return nullptr;
  }
}

// Splits adjacent rows that have at least a block's columns. It needs no array of row pointers.
template <std::size_t W>
void split_in_blocks(const std::byte* source, std::size_t count, std::size_t columns, std::byte* target,
                     std::size_t pitch) {
  using B = Block<W, widest_bytes, 16>;
  const std::size_t row_bytes = columns * W;
  if (count < B::rows) {
    const std::byte* rows[B::rows];
    for (std::size_t r = 0; r < count; ++r) rows[r] = source + r * row_bytes;
    transpose<W, W == 1>(rows, count, columns, target, pitch, W, false);
    return;
  }
  if (const std::size_t left = count % B::rows; left <= copied_rows<B::rows * W>) {
    count -= left;
    for (std::size_t r = count; r < count + left; ++r) {
      const std::byte* const row = source + r * row_bytes;
      copy_elements<W>(&row, 1, 0, columns, target + r * W, pitch);
    }
  }
  for (std::size_t r = 0; r < count; r += B::rows) {
    const std::size_t row = std::min(r, count - B::rows);
    for (std::size_t c = 0; c < columns; c += B::columns) {
      const std::size_t column = std::min(c, columns - B::columns);
      const std::byte* const from = source + row * row_bytes + column * W;
      std::byte* const to = target + column * pitch + row * W;
      B::transpose([&](std::size_t i) { return from + i * row_bytes; },
                   [&](std::size_t i) { return to + i * pitch; });
    }
  }
}

template <std::size_t W>
SplitFunction split_to(std::size_t columns) {
  // Splitting 16 columns takes more registers than AVX2 has. (N x 16 bytes in 64 KiB, AMD Zen 3: 7 to 11
  // GB/s.)
  constexpr bool too_many = W == 1 && widest_bytes == 32;
  SplitFunction function = nullptr;
  if (columns * W < 16 || !too_many) {
    if (with_narrow<W>(columns, [&](auto narrow) { function = narrow.split; })) return function;
  }
  return columns >= 16 / W && columns <= 16 ? split_in_blocks<W> : nullptr;
}

SplitFunction split_of(std::size_t element_bytes, std::size_t columns) {
  if (columns < 2) return nullptr;
  switch (element_bytes) {
    case 1:
      return split_to<1>(columns);
    case 2:
      return split_to<2>(columns);
    case 4:
      return split_to<4>(columns);
    case 8:
      return split_to<8>(columns);
    case 16:
      return split_to<16>(columns);
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(transpose_of);
HWY_EXPORT(transpose_ahead_of);
HWY_EXPORT(split_of);

TransposeFunction transpose_function(std::size_t element_bytes, std::uint64_t row_stride) {
  constexpr std::uint64_t way = 4096;  // of the first-level cache: as far apart, lines share a set
  return HWY_DYNAMIC_DISPATCH(transpose_of)(element_bytes, row_stride != 0 && row_stride % way == 0);
}
TransposeFunction transpose_ahead_function(std::size_t element_bytes, std::size_t count, std::size_t columns,
                                           std::uint64_t row_stride) {
  // These rows share few sets of the cache. Larger elements gain even so: 13 x 8192 of 4 bytes 25 to 30 GB/s.
  if (element_bytes < 4 && row_stride != 0 && row_stride % (2048 * element_bytes) == 0) return nullptr;
  return HWY_DYNAMIC_DISPATCH(transpose_ahead_of)(element_bytes, count, columns);
}
SplitFunction split_function(std::size_t element_bytes, std::size_t columns) {
  return HWY_DYNAMIC_DISPATCH(split_of)(element_bytes, columns);
}

}  // namespace xorder::kernel
#endif
