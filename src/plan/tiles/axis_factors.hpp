// Two factors of an axis permutation, of any extents, for which a single pass would have short runs.
//
// If memory is small, a transposition in one pass has short runs on both sides: √M elements, with M elements
// of memory. Two passes have longer ones. The first brings neighbours in the target together, in runs of h
// elements:
//
//     (K, h, C)  →  (K, C, h)  →  (C, K, h)        K h rows, C columns
//
// It transposes h rows at a time, in runs of M / h elements or more. The second reads the h elements of
// M / (K h) neighbouring columns as one run, and writes whole rows. With h = √(K h) all runs have about M / h
// elements. The axis has to be cut evenly, so h divides its extent, or the run is several whole axes. (Not
// only powers of two have suitable divisors: four of five numbers around 30,000 have one between 30 and
// 1,000, and the other axis may be cut instead. If both extents are prime, one pass remains.)
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {

/// Pairs of reorderings of the same bytes that perform `what` one after the other. There is a pair for
/// several h, from 64 bytes to `largest_run` bytes, in two ways: the first reordering brings neighbours in
/// the target together, or it keeps neighbours in the source together. Each is canonical(), and none is the
/// identity. Empty if there is a map, or no axis can be cut. Requires canonical `what`.
std::vector<std::array<Reordering, 2>> axis_factors(const Reordering& what, std::uint64_t largest_run);

}  // namespace xorder::plan
