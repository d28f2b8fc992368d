// Splits rows of few columns into columns. The rows are adjacent, so they are read as one stream.
#include "kernel/vectors/transpose.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/split.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>

#include "kernel/vectors/blocks-inl.hpp"
#include "kernel/vectors/narrow-inl.hpp"
#include "kernel/vectors/whole_lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

SplitFunction split_of(std::size_t, std::size_t) { return nullptr; }

#else

// Splits adjacent rows that have at least a block's columns. It needs no array of row pointers.
template <class B, std::size_t W>
void split_in_blocks(const std::byte* source, std::size_t count, std::size_t columns, std::byte* target,
                     std::size_t pitch) {
  const std::size_t row_bytes = columns * W;
  using Smaller = Block<W, widest_bytes, 16>;
  if (B::rows > Smaller::rows && count < B::rows)
    return split_in_blocks<Smaller, W>(source, count, columns, target, pitch);
  if (count < B::rows) {
    const std::byte* rows[B::rows];
    for (std::size_t r = 0; r < count; ++r) rows[r] = source + r * row_bytes;
    transpose_function(W)(rows, count, columns, target, pitch, W, false);
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
  // Splitting 16 columns takes more registers than AVX2 has.
  constexpr bool too_many = W == 1 && widest_bytes == 32;
  SplitFunction function = nullptr;
  if (columns * W < 16 || !too_many) {
    if (with_narrow<W>(columns, [&](auto narrow) { function = narrow.split; })) return function;
  }
  if (columns < 16 / W || columns > 16) return nullptr;
  // Blocks of single vectors would write half lines, which takes half as long again or more.
  if constexpr (line_is_two_vectors) return split_in_blocks<TallBlock<W>, W>;
  return split_in_blocks<Block<W, widest_bytes, 16>, W>;
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

HWY_EXPORT(split_of);

SplitFunction split_function(std::size_t element_bytes, std::size_t columns) {
  return HWY_DYNAMIC_DISPATCH(split_of)(element_bytes, columns);
}

}  // namespace xorder::kernel
#endif
