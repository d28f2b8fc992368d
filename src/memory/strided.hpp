// Copies between arrays that have gaps between their elements, or lie in another direction.
//
// An axis along which the target goes backwards is turned: it is taken from its other end on both sides. Then
// the source may go backwards along some axes. Most engines do not mind where rows lie. Only along a row it
// must go forwards, so the axis of the rows is turned once more, and then the runs of the target lie one
// below the other. What is left is an axis that is fastest on both sides and mirrored: the engine "lines"
// reverses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/box/box_axes.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// An array from its lowest byte on, all axes forwards, slowest first, none of one coordinate.
struct StridedArray {
  struct Axis {
    std::int64_t extent = 1, stride = 0;
  };
  std::int64_t begin = 0;  ///< counted from the element with all indices 0
  std::vector<Axis> axes;
};

struct StridedCopy {
  /// Throws InputError as InMemoryPlan does.
  StridedCopy(const ArrayShape& source, std::span<const int> axes,
              const std::vector<std::int64_t>& target_strides);
  /// See InMemoryPlan.
  bool overlap(const std::byte* from, const std::byte* to) const;

  std::uint64_t bytes, element_bytes;
  StridedArray source, target;
  /// Where the axes begin, counted from the elements with all indices 0.
  std::int64_t source_start = 0, target_start = 0;
  TargetAxes axes;  ///< none if `bytes` is 0
};

}  // namespace xorder::memory
