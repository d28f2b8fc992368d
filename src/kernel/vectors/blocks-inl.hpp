// Transposes a matrix in blocks of vectors, for the files that Highway compiles once for each kind of
// processor.
#if defined(XORDER_KERNEL_VECTORS_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef XORDER_KERNEL_VECTORS_BLOCKS_INL
#undef XORDER_KERNEL_VECTORS_BLOCKS_INL
#else
#define XORDER_KERNEL_VECTORS_BLOCKS_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Copies element by element.
template <std::size_t W>
HWY_INLINE void copy_elements(const std::byte* const* rows, std::size_t count, std::size_t column,
                              std::size_t columns, std::byte* target, std::size_t pitch) {
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = column; c < columns; ++c)
      std::memcpy(target + c * pitch + r * W, rows[r] + c * W, W);
  }
}

// So many rows or columns that are left are not worth a block of vectors of N bytes: they are copied one by
// one.
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

#endif

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
