// Reverses the order of elements, and of the bytes of numbers. Compiled for each kind of processor by
// Highway.
#pragma once

#include <cstddef>

namespace xorder::kernel {

/// Element i of the target is element count − 1 − i of the source. They must not overlap.
using MirrorFunction = void (*)(const std::byte* source, std::byte* target, std::size_t count);
/// For elements of 1 to 8 and of 16 bytes; null for others.
MirrorFunction mirror_function(std::size_t element_bytes);

/// Copies numbers with their bytes in reversed order. Source and target may be the same.
using SwapFunction = void (*)(const std::byte* source, std::byte* target, std::size_t count);
/// For numbers of 2, 4, 8 and 16 bytes; null for others.
SwapFunction swap_function(std::size_t number_bytes);

}  // namespace xorder::kernel
