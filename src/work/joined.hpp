// Several inputs as one array, as numpy.stack and numpy.concatenate make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::work {

struct Joining {
  bool stacked = false;  ///< along a new axis
  int axis = 0;          ///< as the user wrote it
  std::string name;      ///< for messages, as the user knows it
};

/// The inputs one after the other. If they are joined along an axis that is not the slowest in each file,
/// that axis is two here: `cut`, along which the files lie, and the next, within each file.
struct Joined {
  ArrayShape shape;
  std::optional<std::size_t> cut;
  std::string name;  ///< that of Joining

  std::vector<std::uint64_t> extents() const;
  // Do what the functions of these names (permutation/reordering.hpp) do, for the array that the user sees.
  Reordering transposition(std::span<const int> axes) const;
  Reordering mapping_along(int axis, const gf2::AffineMap& map) const;
};

/// Throws InputError, which names a file and says how it differs from the first, unless the inputs fit
/// together.
Joined joined(std::span<const io::ArrayFile> inputs, const Joining& how);

}  // namespace xorder::work
