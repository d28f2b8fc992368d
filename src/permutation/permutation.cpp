#include "xorder/permutation/permutation.hpp"

#include <fmt/format.h>

#include <utility>

namespace xorder {

Permutation transposition(std::vector<int> axes) {
  return [axes = std::move(axes)](const ArrayShape& shape) {
    return Permuted{transposition(shape, axes), transposed_extents(shape, axes)};
  };
}

Permutation mapping_along(int axis, IndexMap map) {
  return [axis, map = std::move(map)](const ArrayShape& shape) {
    const int k = checked_axis(axis, shape.extents.size());
    const int n = exact_lg(shape.extents[static_cast<std::size_t>(k)], fmt::format("axis {}", k));
    return Permuted{mapping_along(shape, k, map(n)), shape.extents};
  };
}

Permutation mapping_of_all(IndexMap map) {
  return [map = std::move(map)](const ArrayShape& shape) {
    const std::uint64_t elements = checked_bytes(shape) / shape.element_bytes;
    return Permuted{mapping_of_all(shape, map(exact_lg(elements, "the number of elements"))), shape.extents};
  };
}

}  // namespace xorder
