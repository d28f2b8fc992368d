// Transposing matrices that are in the cache, in registers where elements have 1, 2, 4, 8 or 16 bytes,
// compiled for each kind of processor by Highway.
#pragma once

#include <cstddef>

namespace xorder::memory {

/// How far ahead of what they read the loops below ask for lines of the same source row. The hardware sees to
/// what is farther ahead, if rows are long.
constexpr std::size_t bytes_ahead = 256;

/// Element c of row r goes to target + c·pitch + r·element_bytes, for r < count and c < columns, element by
/// element or block by block in registers. Nothing else is read or written.
using TransposeFunction = void (*)(const std::byte* const* rows, std::size_t count, std::size_t columns,
                                   std::byte* target, std::size_t pitch, std::size_t element_bytes);
/// For elements of 1, 2, 4, 8 and 16 bytes in registers, for all others by copying them one by one.
TransposeFunction transpose_function(std::size_t element_bytes);

/// Splits records into their columns: element c of row r, at source + (r·columns + c)·element_bytes, goes to
/// target + c·pitch + r·element_bytes. Nothing else is read or written.
using SplitFunction = void (*)(const std::byte* source, std::size_t count, std::size_t columns,
                               std::byte* target, std::size_t pitch);
/// For 2 to 16 columns of elements of 1, 2, 4, 8 or 16 bytes; otherwise null.
SplitFunction split_function(std::size_t element_bytes, std::size_t columns);

}  // namespace xorder::memory
