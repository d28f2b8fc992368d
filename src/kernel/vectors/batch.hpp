// Transposes many small matrices. Compiled for each kind of processor by Highway.
#pragma once

#include <cstddef>

namespace xorder::kernel {

/// `count` matrices, each of which is contiguous in source and target. A step goes from one to the next.
///
/// Nothing is looked up for a matrix, and its rows have no pointers. So small ones take less time, often half
/// as much or a third. Figures are in bench/memory_bench.md, "Batches".
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
