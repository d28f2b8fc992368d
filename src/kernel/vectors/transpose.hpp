// Transposes matrices that are in the cache, for arrays in memory and for tiles of files. Highway compiles
// this for each kind of processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {

/// How far ahead a transposition that fetches asks for the rows it reads.
constexpr std::size_t bytes_ahead = 256;

/// Copies element c of row r to target + c·pitch + r·element_bytes, for r < count and c < columns. Reads and
/// writes nothing else, but if `fetching` it prefetches beyond the columns. That pays for rows that go on
/// there and are in the third-level cache. In nearer caches it costs up to a fifth of the speed; for what is
/// farther there is NextTile.
using TransposeFunction = void (*)(const std::byte* const* rows, std::size_t count, std::size_t columns,
                                   std::byte* target, std::size_t pitch, std::size_t element_bytes,
                                   bool fetching);
/// `row_stride`: bytes from one row to the next, if that is always the same. If it is a multiple of 4 KiB,
/// all rows share eight lines of the first-level cache, and each line is read at once rather than in halves.
/// (Other rows would lose up to a third by that.)
TransposeFunction transpose_function(std::size_t element_bytes, std::uint64_t row_stride = 0);
/// Whether matrices of such elements are transposed in squares of lines, each of which is read at once and
/// written at once: where a line is two vectors.
bool transposes_squares(std::size_t element_bytes);
/// For rows so few that a column does not fill a vector. It stores a whole vector for each column, so it also
/// overwrites what follows the last one, less than a line, which must be written later. Requires pitch =
/// count·element_bytes and ahead_rows() rows, of which those from rows[count] on repeat the last one. Null if
/// transpose_function() is as fast. (Where rows share sets of the cache, this is up to half as fast.)
TransposeFunction transpose_ahead_function(std::size_t element_bytes, std::size_t count, std::size_t columns,
                                           std::uint64_t row_stride = 0);
constexpr std::size_t ahead_rows(std::size_t element_bytes) { return line_bytes / element_bytes; }
/// Whether elements of this size are copied one by one, as all are on processors without vectors. The others
/// are transposed in registers.
constexpr bool copied_one_by_one(std::size_t element_bytes) {
  return element_bytes > 8 && element_bytes != 16;
}

/// Splits records into their columns: element c of row r, at source + (r·columns + c)·element_bytes, goes to
/// target + c·pitch + r·element_bytes. Nothing else is read or written.
using SplitFunction = void (*)(const std::byte* source, std::size_t count, std::size_t columns,
                               std::byte* target, std::size_t pitch);
/// For 2 to 16 columns of elements of 1, 2, 4, 8 or 16 bytes. Otherwise, and on processors without vectors,
/// null.
SplitFunction split_function(std::size_t element_bytes, std::size_t columns);

}  // namespace xorder::kernel
