// What is to be done, as C programs describe it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "xorder.h"
#include "xorder/permutation/reordering.hpp"

/// A permutation of an array, and of other arrays with the same elements in another order or, for a map of
/// the flat index, in another shape.
struct xorder_permutation {
  /// numpy.transpose's axes; none: reversed. Both throw InputError.
  xorder_permutation(xorder::ArrayShape of, std::vector<int> order);
  /// The map acts on this axis, or on the flat index.
  xorder_permutation(xorder::ArrayShape of, xorder::gf2::AffineMap by, std::optional<int> along);

  /// What is to be done to this array. Throws InputError.
  xorder::Reordering applied_to(const xorder::ArrayShape& array) const;
  /// The shape of its result.
  std::vector<std::uint64_t> result(const xorder::ArrayShape& array) const;

  xorder::ArrayShape shape;
  std::vector<int> axes;
  std::optional<xorder::gf2::AffineMap> map;
  std::optional<int> axis;
  xorder::Reordering what;  ///< all this for `shape`
};
