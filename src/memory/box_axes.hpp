// An axis permutation as the engines for boxes see it, see box.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/engine.hpp"
#include "memory/offsets.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Axes by where they lie: what is common to all kinds of tiles.
struct Box {
  std::uint64_t element_bytes = 1;
  TargetAxis columns;             ///< D
  std::vector<TargetAxis> run;    ///< T, fastest first
  std::vector<TargetAxis> outer;  ///< slower than D in the target, fastest first
  std::uint64_t run_length = 1;
  std::uint64_t stacked =
      1;  ///< matrices of rows side by side in the source, their runs one after the other in a target row
  std::uint64_t outer_count = 1;

  explicit Box(const Reordering& what);
  /// The rows follow each other in the source.
  bool rows_adjacent() const;
};

/// From the rows to the target without a buffer, for columns that are not mapped: the fastest for arrays in
/// the cache. Beyond the first level, lines that are written in two halves cost more than a buffer, but for
/// tiny elements.
bool fits_direct(const Box& box, std::uint64_t bytes);
std::unique_ptr<Engine> make_direct_box(Box box);

}  // namespace xorder::memory
