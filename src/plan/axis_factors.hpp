// Axis permutations of any extents that do not go in one pass with large blocks.
//
// Where memory is small, a transposition in one pass has short runs on both sides: with M elements of memory
// √M. In two passes it has longer ones. The first brings together what the target has side by side, as far as
// `run` elements go:
//
//     (K, h, C)  →  (K, C, h)  →  (C, K, h)        K h rows, C columns
//
// It transposes each band of h rows, in runs of M / h elements and more. The second reads runs of h for M /
// (K h) columns that lie side by side, and writes whole rows. With h = √(K h) all runs have about M / h
// elements. The axis has to be cut evenly, so h divides its extent; or several whole axes are the run.
// (Extents that are powers of two are not the only ones with divisors: of the numbers around 30,000 four of
// five have one between 30 and 1,000, and the other axis may be cut instead. For two primes one pass stays.)
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {

/// Two reorderings of the same bytes that perform `what` one after the other: some ways to do it, for h from
/// 64 bytes to `largest_run` bytes, and the same backwards, where what the source has side by side is kept
/// together first. Each is canonical(), and none is the identity. Empty if there is a map, or no axis can be
/// cut. Requires canonical `what`.
std::vector<std::array<Reordering, 2>> axis_factors(const Reordering& what, std::uint64_t largest_run);

}  // namespace xorder::plan
