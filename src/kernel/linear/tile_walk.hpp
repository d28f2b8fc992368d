// The order of the tiles of a linear map.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gf2/subspace.hpp"
#include "kernel/linear/tile_shape.hpp"
#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// Counts through a basis of V / S, where S = E_s + A⁻¹E_t. From one number to the next, one bit and all bits
/// below it change. So a step to the next tile is two exclusive ors with precomputed sums. (A Gray code costs
/// the same, but goes back and forth, which the hardware's prefetchers do not follow.) The basis goes first
/// along a page of the source, for at most 32 tiles, then along a page of the target, then through larger
/// pages in the same way. So few pages are in use at a time.
class TileWalk {
 public:
  /// Requires a shape that is possible for the map. The tile of index 0 is that of 0 in the source and of
  /// `complement` in the target.
  TileWalk(const gf2::BitMatrix& map, gf2::Word complement, TileShape shape, std::uint64_t element_bytes);

  std::uint64_t tiles() const { return std::uint64_t{1} << basis_.size(); }
  int tile_bits() const { return tile_bits_; }
  /// The matrix that gives the index of a source element's tile.
  gf2::BitMatrix indices() const;

  struct Place {
    std::uint64_t index;
    gf2::Word source;  ///< an element of the tile; its low source_bits bits are 0
    gf2::Word target;  ///< its image
  };
  Place at(std::uint64_t index) const;
  /// Goes to the next tile. At the last tile only the index changes.
  void advance(Place& place) const {
    ++place.index;
    if (place.index == tiles()) return;
    const Step& step = steps_[static_cast<std::size_t>(std::countr_zero(place.index))];
    place.source ^= step.source;
    place.target ^= step.target;
  }

 private:
  int tile_bits_;
  gf2::Subspace space_;  // S
  gf2::Word complement_;
  struct Step {
    gf2::Word source, target;
  };
  std::vector<Step> basis_;
  std::vector<Step> steps_;  // step i: the sum of the first i + 1 basis vectors
};

}  // namespace xorder::kernel
