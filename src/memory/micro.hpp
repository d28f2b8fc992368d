// The innermost loops of reordering in memory: those of kernel, and writing rows past the cache, which
// Highway compiles for each kind of processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/transpose.hpp"

namespace xorder::memory {

using kernel::copied_one_by_one;
using kernel::copy_function;
using kernel::CopyFunction;
using kernel::finish_streams;
using kernel::line_bytes;
using kernel::prefetch;
using kernel::prefetch_far;
using kernel::split_function;
using kernel::SplitFunction;
using kernel::transpose_ahead_function;
using kernel::transpose_function;
using kernel::TransposeFunction;

/// Rows of a buffer, each the next part of a run of the target. Only whole lines are written. The line in
/// which a part begins is written whole, so the buffer must also have the bytes of that line before the
/// part. The line in which a part ends is left to the next part.
struct RowsOut {
  std::byte* target;  ///< where the part of row 0 begins
  std::size_t target_pitch;
  const std::byte* buffer;  ///< the part of row 0
  std::size_t pitch;
  std::size_t rows;
  std::size_t bytes;  ///< of a part; at least a line unless it is the last one
  bool first;         ///< the run begins with this part, perhaps within a line
  bool last;          ///< the run ends with it
};
using RowsOutFunction = void (*)(const RowsOut& rows);
RowsOutFunction rows_out_function(bool streamed);

}  // namespace xorder::memory
