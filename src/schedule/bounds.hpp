// Lower bounds: how many steps any schedule for a task needs. Two arguments give them all.
//
//   capacity  a step uses each link once, so the crossings of a dimension that the task cannot avoid need as
//             many steps as there are of them per node (likewise what must cross a cut through a mesh)
//   distance  a message crosses at most one dimension in a step (with wormhole switching: all at once)
#pragma once

#include <cstdint>
#include <span>

#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// 2^(d−1): 2^d nodes with 2^d words each, d·2^(2d−1) crossings in all. 0 for d = 0.
std::uint64_t total_exchange_bound(int dimension);

/// Every node has the same tags: the critical sum, the largest of the row and column sums.
std::uint64_t isotropic_bound(std::span<const gf2::Word> tags, int dimension);

/// The banded transposition of `matrices` matrices at once (banded.hpp).
std::uint64_t banded_bound(int dimension, int beta, int matrices);

/// T(N): with k = 2X, k ≡ N mod 2, 0 ≤ k < N, the maximum of ⌈(N²/4 + XN − X(X+1)) / (N + 2X)⌉
/// (Tsay, Ding and Wang, as in mesh.hpp; their lemma says minimum). 0 for N ≤ 1.
std::uint64_t mesh_bound(std::uint64_t side);

/// The same task if rows and columns are rings: the maximum of ⌈(N(N−1) − 2m(m−1)) / 8(N−m)⌉, 0 ≤ m ≤ N/2,
/// about N / (4 + 2√2), half of T(N). m = N/2 gives the distances of all blocks over 4N² links. 0 for N ≤ 1.
std::uint64_t torus_bound(std::uint64_t side);

/// The steps of the two phases of Tsay, Ding and Wang's own schedule on a mesh of an even side.
struct MeshPhases {
  std::uint64_t first = 0, second = 0;
  std::uint64_t steps() const { return first + second; }
};
/// The largest x with y = N/2 − 2x ≥ 0 and ((x−y)(x−y−1) ≤ 2y² or x ≤ y), which is x(x − 1) ≤ y(N/2 − 1); and
/// that y. Requires an even side.
MeshPhases mesh_phases(std::uint64_t side);

/// One or both halves of ASPC: a word crosses 1 link for j = 0 and 2 links for each j ≥ 1.
std::uint64_t aspc_bound(int dimension, int halves);

/// ±2^b-descend on 2^n nodes with 2^v elements each, without the local iterations if `local` is false.
/// Capacity: a value that is copied to two nodes, each two links away, needs 3 crossings at least. Distance:
/// each iteration waits for values of the one before from two links away (from one if the nodes are
/// neighbours), and a local iteration waits for values at a node's edge from one link away.
std::uint64_t descend_bound(int dimension, int lg_per_node, bool local = true);

/// Rounds on a crossbar: the most other processors that a processor has elements for. The top lg_processors
/// bits of an index name the processor that owns it.
std::uint64_t rounds_bound(const gf2::AffineMap& map, int lg_processors);

}  // namespace xorder::schedule
