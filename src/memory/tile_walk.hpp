// The order in which the tiles of a BMMC permutation are done.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "xorder/gf2/affine_map.hpp"
#include "xorder/gf2/subspace.hpp"

namespace xorder::memory {

/// Counts through a basis of V / S, where S = E_s + A⁻¹E_t. From one number to the next a bit and all below
/// it change, so one step to the next tile is two exclusive ors with sums that are made before. (A Gray code
/// costs the same, but goes back and forth, which the hardware's prefetchers do not follow.) The basis goes
/// first along a page of the source, then along a page of the target, then through all that shares larger
/// pages with these, so that few pages are in use at a time.
class TileWalk {
 public:
  TileWalk(const gf2::AffineMap& map, int source_bits, int target_bits, std::uint64_t element_bytes);

  std::uint64_t tiles() const { return std::uint64_t{1} << basis_.size(); }
  int tile_bits() const { return tile_bits_; }
  /// The same for all elements of a tile, and different for different tiles.
  gf2::Word tile_of(gf2::Word source) const { return space_.reduce(source); }
  /// Whether the matrix permutes the cosets of S.
  bool permutes_tiles(const gf2::BitMatrix& matrix) const;
  /// All bits that are set in the target of some place.
  gf2::Word varying() const;

  struct Place {
    std::uint64_t index;
    gf2::Word source;  ///< an element of the tile; its low source_bits bits are 0
    gf2::Word target;  ///< its image
  };
  Place at(std::uint64_t index) const;
  /// From the last tile it stays there.
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
  std::vector<Step> steps_;  // sums of the first ones of the basis
};

}  // namespace xorder::memory
