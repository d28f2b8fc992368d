// What to do with an array, whatever its shape:
//
//   transposition()                                  the axes reversed: a matrix transposed
//   transposition({3, 0, 1, 2})                      as numpy.transpose(a, (3, 0, 1, 2))
//   mapping_along(-1, bmmc::bit_reverse)             every row bit-reversed
//   mapping_of_all([](int n) { return parse_expression("gray^-1 * bitreverse", n); })
//
// reordering.hpp has the same functions for an array whose shape is known, and explains what they do.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder {

/// A reordering of one array, and the shape of the result.
struct Permuted {
  Reordering reordering;
  std::vector<std::uint64_t> extents;
};

/// Throws InputError for an array that it does not fit.
using Permutation = std::function<Permuted(const ArrayShape&)>;

/// The map of n-bit indices, for any n: most functions of bmmc.hpp are such.
using IndexMap = std::function<gf2::AffineMap(int n)>;

Permutation transposition(std::vector<int> axes = {});
Permutation mapping_along(int axis, IndexMap map);
Permutation mapping_of_all(IndexMap map);

}  // namespace xorder
