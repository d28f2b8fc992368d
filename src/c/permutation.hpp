// The permutation object of the C interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "work/joined.hpp"
#include "xorder.h"
#include "xorder/permutation/reordering.hpp"

/// A permutation for arrays of one shape. A job also applies it to an input in Fortran order and, if it is a
/// map of the flat index, to other shapes with as many elements.
struct xorder_permutation {
  /// `order` has the axes as in numpy.transpose; empty means reversed. Both constructors throw InputError.
  xorder_permutation(xorder::ArrayShape of, std::vector<int> order);
  /// The map acts on axis `along`, or on the flat index.
  xorder_permutation(xorder::ArrayShape of, xorder::gf2::AffineMap by, std::optional<int> along);

  /// The reordering of this array. Throws InputError.
  xorder::Reordering applied_to(const xorder::ArrayShape& array) const;
  xorder::Reordering applied_to(const xorder::work::Joined& array) const;
  /// Throws InputError that begins with `name` unless the permutation is for arrays of this shape. A map of
  /// the flat index is for any shape with as many elements.
  void check_fits(const std::string& name, const xorder::ArrayShape& array) const;
  /// The shape of the result.
  std::vector<std::uint64_t> result(const xorder::ArrayShape& array) const;

  xorder::ArrayShape shape;
  std::vector<int> axes;
  std::optional<xorder::gf2::AffineMap> map;
  std::optional<int> axis;
  std::string expression;   ///< that the map is of, or empty
  xorder::Reordering what;  ///< applied_to(shape)
};
