// Transposes many small matrices. Compiled for each kind of processor by Highway.
#pragma once

#include <cstddef>

namespace xorder::kernel {

/// `count` matrices, each of which is contiguous in source and target. A step goes from one to the next.
///
/// Nothing is looked up for a matrix, and its rows have no pointers. So small ones take a half to a sixth of
/// the time. (64 KiB, AMD Zen 3, GB/s: 4 x 4 of 4, 8, 16 bytes 8.5, 13, 17 to 23, 36, 40, 16 x 16 of 1 and 2
/// bytes 5.2 and 19 to 15 and 34, 32 x 32 of 4 and 8 bytes 27 and 36 to 43 and 48; memcpy 50.)
struct Batch {
  const std::byte* source;
  std::size_t source_step;
  std::byte* target;
  std::size_t target_step;
  std::size_t count, rows, columns;
};
using BatchFunction = void (*)(const Batch& batch);
/// Null unless a matrix has at most 8 KiB and consists of whole blocks of vectors, which have 16 or 32 bytes.
BatchFunction batch_function(std::size_t element_bytes, std::size_t rows, std::size_t columns);

}  // namespace xorder::kernel
