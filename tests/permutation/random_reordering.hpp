// Random shapes and reorderings for the tests of every layer.
#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "gf2/random_gf2.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::test {

inline std::vector<int> random_axes(Random& random, std::size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::ranges::shuffle(axes, random);
  return axes;
}

/// Rank 0 to 5; many extents of 1, few of 0; at most some thousand elements.
inline ArrayShape random_shape(Random& random, bool powers_of_two) {
  ArrayShape shape;
  for (int axis = random.in(0, 5); axis > 0; --axis) {
    shape.extents.push_back(powers_of_two ? std::uint64_t{1} << random.in(0, 2) : random.in(1, 5));
  }
  if (!powers_of_two && !shape.extents.empty() && random.in(0, 9) == 0) shape.extents.back() = 0;
  shape.element_bytes = random.in(std::uint64_t{1}, std::uint64_t{9});
  shape.order = random.in(0, 1) ? Order::c : Order::fortran;
  return shape;
}

/// An arbitrary one, not only what the functions make: extents in any order, any axis mapped.
inline Reordering random_reordering(Random& random) {
  const ArrayShape shape = random_shape(random, random.in(0, 1) == 0);
  Reordering r;
  r.element_bytes = shape.element_bytes;
  r.extents = shape.extents;
  r.order = random_axes(random, shape.extents.size());
  if (random.in(0, 3) == 0) std::ranges::sort(r.order);
  for (int axis = 0; axis < static_cast<int>(r.extents.size()); ++axis) {
    if (!std::has_single_bit(r.extents[axis]) || random.in(0, 1)) continue;
    r.mapped = axis;
    r.map = random_bmmc(random, std::countr_zero(r.extents[axis]));
    if (random.in(0, 4) == 0) r.map = gf2::AffineMap::identity(r.map.bits());
  }
  return r;
}

}  // namespace xorder::test
