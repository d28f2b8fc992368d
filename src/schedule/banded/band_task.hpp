// The transposition of banded matrices as a task (routed.hpp), with any affine assignment of columns to
// nodes, and lower bounds for it.
//
// The matrix is N × N, N = 2^d, with a column on each node. Its band is cyclic: a[i, c] may be nonzero where
// i − c, modulo N, is one of −back .. ahead. It must go from the node of column c to the node of column i.
// Slot s of a node holds offset i − c = s − back before, and s − ahead after.
//
// An *assignment* puts column c at node A c ⊕ a, A nonsingular. Row j of A, a set r of bits, says which
// packets cross dimension j: those with odd parity of r & (i ⊕ c). So each dimension's crossings depend on
// its own row alone. So the assignment whose busiest dimension has the fewest crossings is found greedily:
// take the rows in ascending order of their crossings, as long as they are independent.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/banded/banded.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::schedule {

/// Column c at node c.
gf2::AffineMap binary_assignment(int dimension);
/// The assignment of banded.hpp: β low bits of the column on top, the reflected Gray code of the others
/// below.
gf2::AffineMap binary_gray_assignment(int dimension, int beta);
/// The affine assignment whose busiest dimension has the fewest crossings, and ⌈that number / N⌉: no affine
/// assignment needs fewer steps. Throws InputError if dimension > max_affine_dimension. Time O(N · (width +
/// d)).
struct AffineAssignment {
  gf2::AffineMap map;
  std::uint64_t bound = 0;
};
AffineAssignment best_affine_assignment(int dimension, const Diagonals& band);
inline constexpr int max_affine_dimension = 13;

/// The task for several matrices at once: matrix m's column c lies at node assignments[m](c), in the slots
/// from m·width on. Throws InputError if band.width() > N, or if the task has more places than Routed takes.
std::vector<Packet> band_task(int dimension, const Diagonals& band,
                              const std::vector<gf2::AffineMap>& assignments);

/// The bound of one matrix with the Binary-Gray assignment, in O(width · d): what task_bound gives for its
/// task, if β < d and the band reaches 2^β at most. β = d is the binary assignment.
std::uint64_t band_bound(int dimension, int beta, const Diagonals& band);
/// The crossings of each dimension, in O(width · d).
std::vector<std::uint64_t> band_column_sums(int dimension, int beta, const Diagonals& band);
/// Their sum.
std::uint64_t band_crossings(int dimension, int beta, const Diagonals& band);

/// A bound for any assignment of `matrices` matrices of `width` diagonals. The width − 1 partners of a column
/// are at best on the width − 1 nearest nodes. The bound is the sum of their distances over d links, or the
/// largest distance: at least 2 from width 4 on.
std::uint64_t universal_band_bound(int dimension, std::uint64_t width, int matrices = 1);

/// H(λ) = −λ lg λ − (1 − λ) lg(1 − λ), 0 at both ends. Requires 0 ≤ λ ≤ 1.
double binary_entropy(double fraction);
/// The λ ≤ 1/2 with H(λ) = `entropy`, found by bisection. Requires 0 ≤ entropy ≤ 1.
double inverse_binary_entropy(double entropy);
/// The closed form of universal_band_bound() for one matrix, not rounded: width · H⁻¹(lg width / d)
/// (Varvarigos and Bertsekas). It is never above the sum. Of a node and its width − 1 partners take one at
/// random; let the bits of its tag be 1 with probabilities p_j. Its entropy, lg width, is at most the sum of
/// H(p_j), and that is at most d · H(mean of p_j) since H is concave. The mean distance is the sum of p_j.
/// Requires and throws as the sum does.
double closed_band_bound(int dimension, std::uint64_t width);

}  // namespace xorder::schedule
