// Transposes in blocks that fit in registers. Which blocks depends on the size of an element, on the number
// of rows and columns, and on the vectors of the processor.
#include "kernel/vectors/transpose.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/transpose.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernel/records.hpp"
#include "kernel/vectors/blocks-inl.hpp"
#include "kernel/vectors/narrow-inl.hpp"
#include "kernel/vectors/packed.hpp"
#include "kernel/vectors/whole_lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

TransposeFunction transpose_of(std::size_t, bool) { return transpose_records; }
TransposeFunction transpose_ahead_of(std::size_t, std::size_t, std::size_t) { return nullptr; }
bool has_squares() { return false; }

#else

bool has_squares() { return line_is_two_vectors; }

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

// Splits rows of 2 to 15 bytes that lie anywhere: some of them are put side by side first, as loads of a few
// bytes each would take twice as long.
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
  // Joining few columns takes a detour, so they are transposed in blocks if they fill one.
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
  // (Single bytes are faster in squares, larger elements by lines.)
  if constexpr (by_lines && W > 1) {
    if (with(FlatBlock<W, widest_bytes>())) return;
  }
  // Squares write whole lines, which pays where source and target exceed the first level. Where rows or
  // columns are left, the smaller blocks of smaller elements waste less.
  if constexpr (line_is_two_vectors) {
    using S = Square<W>;
    if ((W == 16 || (count % S::rows == 0 && columns % S::columns == 0)) && with(S())) return;
    using T = TallBlock<W>;
    if (count % T::rows == 0 && columns % T::columns == 0 && with(T())) return;
  }
  if constexpr (by_lines && W == 1) {
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
  // Where a column has little more than half a vector, two smaller blocks are faster than one that is half
  // empty.
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

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(transpose_of);
HWY_EXPORT(transpose_ahead_of);
HWY_EXPORT(has_squares);

TransposeFunction transpose_function(std::size_t element_bytes, std::uint64_t row_stride) {
  if (const TransposeFunction packed = packed_transpose_function(element_bytes)) return packed;
  constexpr std::uint64_t way = 4096;  // of the first-level cache: as far apart, lines share a set
  return HWY_DYNAMIC_DISPATCH(transpose_of)(element_bytes, row_stride != 0 && row_stride % way == 0);
}
bool transposes_squares(std::size_t element_bytes) {
  return std::has_single_bit(element_bytes) && element_bytes <= 16 && HWY_DYNAMIC_DISPATCH(has_squares)();
}
TransposeFunction transpose_ahead_function(std::size_t element_bytes, std::size_t count, std::size_t columns,
                                           std::uint64_t row_stride) {
  // These rows share few sets of the cache. Larger elements gain even so.
  if (element_bytes < 4 && row_stride != 0 && row_stride % (2048 * element_bytes) == 0) return nullptr;
  return HWY_DYNAMIC_DISPATCH(transpose_ahead_of)(element_bytes, count, columns);
}

}  // namespace xorder::kernel
#endif
