// Where the columns lie if several banded matrices are transposed at once (band_task.hpp).
//
// Each matrix has the Binary-Gray assignment, with its dimensions in an order of its own and a constant of
// its own: the node of column c is π_m(p(c)) ⊕ a_m. The paper rotates by mβ dimensions, so that the isotropic
// parts use disjoint ones. But the rings' dimensions have different loads: half of a ring's packets cross the
// same one. Other orders balance all dimensions better, which lowers the bound, and constants keep the
// busiest nodes of different matrices apart. Orders and constants for d ≤ 9 were found by trial
// (bench/placement_bench.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::schedule {

/// The Binary-Gray assignment rotated left by `rotation` dimensions. Requires 0 ≤ rotation.
gf2::AffineMap rotated_assignment(int dimension, int beta, int rotation);

/// Matrix m rotated left by mβ dimensions. Throws InputError unless 1 ≤ β < d and 1 ≤ matrices ≤ ⌊d/β⌋.
std::vector<gf2::AffineMap> rotated_placement(int dimension, int beta, int matrices);

/// Bit j of the Binary-Gray assignment becomes dimension order[j]; then the constant is xored in.
struct Placement {
  std::vector<int> order;
  std::uint64_t constant = 0;
};
gf2::AffineMap placed(int dimension, int beta, const Placement& placement);

/// The placement that was found for bands |i − j| ≤ 2^β.
struct FoundPlacement {
  std::vector<Placement> matrices;
  /// The steps of Routed with this placement and its default options.
  std::uint64_t steps = 0;
};
std::optional<FoundPlacement> found_placement(int dimension, int beta, int matrices);

}  // namespace xorder::schedule
