#include "schedule/bounds.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "gf2/subspace.hpp"
#include "rounding.hpp"
#include "schedule/bits.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

uint64_t largest(const std::vector<uint64_t>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

}  // namespace

uint64_t total_exchange_bound(int dimension) { return dimension == 0 ? 0 : pow2(dimension - 1); }

uint64_t isotropic_bound(std::span<const gf2::Word> tags, int dimension) {
  std::vector<uint64_t> columns(static_cast<std::size_t>(dimension), 0);
  uint64_t bound = 0;
  for (const gf2::Word tag : tags) {
    bound = std::max(bound, static_cast<uint64_t>(std::popcount(tag)));
    for (std::size_t j = 0; j < columns.size(); ++j) columns[j] += tag >> j & 1;
  }
  return std::max(bound, largest(columns));
}

// Column sums over all nodes. In the β dimensions of c1, A and B need 2^(β−1) crossings each per node. There
// are 2^β rings of R = 2^(d−β) nodes, and 2^β + 1 packets per node cross the edges of its ring. The reflected
// Gray code changes bit k at R / 2^(k+1) of a ring's R edges, its top bit at two.
uint64_t banded_bound(int dimension, int beta, int matrices) {
  if (beta >= dimension) return total_exchange_bound(dimension);
  const int ring_bits = dimension - beta;
  const bool pair = ring_bits == 1;  // a ring of two nodes has one edge, and no second packet for tag 0
  std::vector<uint64_t> columns(static_cast<std::size_t>(dimension), 0);
  for (int m = 0; m < matrices; ++m) {
    const auto column = [&](int bit) -> uint64_t& {
      return columns[static_cast<std::size_t>((bit + m * beta) % dimension)];
    };
    for (int bit = ring_bits; bit < dimension; ++bit) column(bit) += pow2(beta) * pow2(dimension);
    for (int k = 0; k < ring_bits; ++k) {
      const uint64_t edges = k == ring_bits - 1 ? 2 : pow2(ring_bits - k - 1);
      column(k) += pair ? pow2(beta) * pow2(dimension) : edges * pow2(beta) * (pow2(beta) + 1);
    }
  }
  return std::max(ceil_div(largest(columns), pow2(dimension)), static_cast<uint64_t>(beta) + 1);
}

uint64_t mesh_bound(uint64_t side) {
  uint64_t bound = 0;
  for (uint64_t k = side % 2; k < side; k += 2) {
    const uint64_t four_times = side * side + 2 * k * side - k * (k + 2);
    bound = std::max(bound, ceil_div(four_times, 4 * (side + k)));
  }
  return side <= 1 ? 0 : bound;
}

// A link into a node of the diagonal i = j counts A + 1, any other 1: 4N(N + A) in all. With k = i − j mod
// N, a block that crosses the diagonal needs 2·min(k, N − k) links at least, which count A more. One that
// does not gets from k to N − k without passing k = 0, so it moves by mN − k rows and nN + k columns with m
// = n + 1: at least N links. With A = N − 2m, the N blocks of each k therefore need N·min(2·min(k, N − k) +
// N − 2m, N), and the sum of the minima over 0 < k < N is N(N − 1) − 2m(m − 1).
uint64_t torus_bound(uint64_t side) {
  uint64_t bound = 0;
  for (uint64_t m = 1; m <= side / 2; ++m) {
    bound = std::max(bound, ceil_div(side * (side - 1) - 2 * m * (m - 1), 8 * (side - m)));
  }
  return bound;
}

// (x−y)(x−y−1) ≤ 2y² is x² − x ≤ y² + 2xy − y, and N/2 − 1 = 2x + y − 1. If x ≤ y, both hold.
MeshPhases mesh_phases(uint64_t side) {
  MeshPhases phases;
  for (uint64_t x = 0; 4 * x <= side; ++x) {
    const uint64_t half = side / 2, y = half - 2 * x;
    if (x * x + y <= x + y * half) phases = {x, y};
  }
  return phases;
}

uint64_t aspc_bound(int dimension, int halves) {
  if (dimension == 0) return 0;
  const auto n = static_cast<uint64_t>(dimension);
  const auto capacity = ceil_div(static_cast<uint64_t>(halves) * (2 * n - 1), n);
  return std::max(capacity, n > 1 ? uint64_t{2} : uint64_t{1});
}

// Crossings per element in the inter-node iterations: 2 for j = 0, as i + 1 and i − 1 get a copy each; 3 for
// 1 ≤ j ≤ n−2; 2 for j = n−1, as i + 2^(n−1) and i − 2^(n−1) are the same node. A local iteration b sends 2^b
// elements to either side.
uint64_t descend_bound(int dimension, int lg_per_node, bool local) {
  if (dimension == 0) return 0;
  const auto n = static_cast<uint64_t>(dimension);
  const uint64_t v = pow2(lg_per_node);
  const uint64_t copies = n == 1 ? 1 : 3 * n - 2;
  const uint64_t distance = 2 * n - 1 + (local ? static_cast<uint64_t>(lg_per_node) : 0);
  return std::max(ceil_div(v * copies + (local ? 2 * (v - 1) : 0), n), distance);
}

// Processor k has elements for the processors of the coset γ·x ⊕ δk ⊕ c: 2^rank of them, perhaps itself.
uint64_t rounds_bound(const gf2::AffineMap& map, int lg_processors) {
  const int p = lg_processors, left = map.bits() - p;
  gf2::Subspace reach;
  for (int j = 0; j < left; ++j) reach.add(map.matrix.column(j) >> left);
  bool all_reach_themselves = reach.contains(map.complement >> left);
  for (int j = 0; j < p; ++j) {
    all_reach_themselves &= reach.contains((map.matrix.column(left + j) >> left) ^ gf2::unit(j));
  }
  return pow2(reach.dimension()) - (all_reach_themselves ? 1 : 0);
}

}  // namespace xorder::schedule
