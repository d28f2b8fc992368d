// A lower bound for any movement on a hypercube, which the closed forms of bounds.hpp must agree with.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "rounding.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::test {

/// Capacity and distance, counted from the goals: the largest of ⌈mean column sums⌉ and row sums. Visits every
/// place.
inline std::uint64_t hypercube_bound(const schedule::Schedule& schedule) {
  const std::uint64_t nodes = schedule.network().nodes();
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(schedule.network().dimension()), 0);
  std::uint64_t bound = 0;
  for (schedule::Node v = 0; v < nodes; ++v) {
    for (std::uint64_t slot = 0; slot < schedule.slots(); ++slot) {
      const auto goal = schedule.goal({v, slot});
      const std::uint64_t tag = goal ? goal->node ^ v : 0;
      bound = std::max(bound, static_cast<std::uint64_t>(std::popcount(tag)));
      for (std::size_t j = 0; j < columns.size(); ++j) columns[j] += tag >> j & 1;
    }
  }
  for (const std::uint64_t sum : columns) bound = std::max(bound, ceil_div(sum, nodes));
  return bound;
}

}  // namespace xorder::test
