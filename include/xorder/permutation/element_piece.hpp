// What of a stored element is wanted, where that is not all of it as it is.
#pragma once

#include <cstdint>

namespace xorder {

/// Some bytes of a stored element.
struct ElementPiece {
  std::uint64_t offset = 0;  ///< in the stored element
  std::uint64_t bytes = 0;
  /// The bytes of each number of so many bytes change their order; 1: they stay as they are.
  std::uint64_t reversed = 1;
  bool operator==(const ElementPiece&) const = default;
};

}  // namespace xorder
