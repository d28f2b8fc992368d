// The axes of an axis permutation, for the engines for boxes: see box.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/engine.hpp"
#include "memory/offsets.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// The axes by their place in source and target.
struct Box {
  std::uint64_t element_bytes = 1;
  TargetAxis columns;             ///< D
  std::vector<TargetAxis> run;    ///< T, fastest first
  std::vector<TargetAxis> outer;  ///< slower than D in the target, fastest first
  std::uint64_t run_length = 1;
  std::uint64_t stacked =
      1;  ///< matrices side by side in the source, whose runs follow each other in a target row
  std::uint64_t outer_count = 1;

  explicit Box(const Reordering& what);
  /// Whether the rows follow each other in the source.
  bool rows_adjacent() const;
  /// Bytes from one row to the next, along the fastest axis of the run; 0 if that varies.
  std::uint64_t row_stride() const {
    return run.empty() || run.front().mapped ? 0 : run.front().source_stride;
  }
};

/// Moves tiles from the rows to the target without a buffer, which is fastest for arrays in the cache.
/// Columns must not be mapped. Beyond the first-level cache, writing lines in two halves costs more than a
/// buffer does, except for elements below 4 bytes.
bool fits_direct(const Box& box, std::uint64_t bytes);
std::unique_ptr<Engine> make_direct_box(Box box);

}  // namespace xorder::memory
