// Elements of 3, 5, 6 and 7 bytes in cells of 4 and 8 bytes, where they can be moved line by line. Compiled
// for each kind of processor by Highway.
#pragma once

#include <bit>
#include <cstddef>

namespace xorder::kernel {

/// The bytes of an element's cell.
constexpr std::size_t cell_bytes(std::size_t element_bytes) { return std::bit_ceil(element_bytes); }

/// Copies `count` elements, whose cells fill whole lines. It reads and writes nothing but the elements or
/// their cells. A cell's bytes behind its element are undefined.
using PaddingFunction = void (*)(const std::byte* source, std::byte* target, std::size_t count);
struct Padding {
  PaddingFunction pad;    ///< from elements side by side to cells
  PaddingFunction unpad;  ///< back
};
/// Null functions for elements of other sizes. (In cells of 16 bytes, elements of 12 would be slower, in some
/// maps almost twice.)
Padding padding_functions(std::size_t element_bytes);

}  // namespace xorder::kernel
