// The order in which the tiles of a BMMC permutation are done.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "xorder/gf2/affine_map.hpp"
#include "xorder/gf2/subspace.hpp"

namespace xorder::memory {

/// A Gray code over a basis of V / S, where S = E_s + A⁻¹E_t: one step to the next tile is two exclusive ors. The basis goes
/// first along a page of the source and a page of the target, then through all that shares larger pages with these, so that few
/// pages are in use at a time.
class TileWalk {
 public:
  TileWalk(const gf2::AffineMap& map, int source_bits, int target_bits, std::uint64_t element_bytes);

  std::uint64_t tiles() const { return std::uint64_t{1} << sources_.size(); }
  int tile_bits() const { return tile_bits_; }
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
    const auto i = static_cast<std::size_t>(std::countr_zero(place.index));
    place.source ^= sources_[i];
    place.target ^= targets_[i];
  }

 private:
  int tile_bits_;
  gf2::Word complement_;
  std::vector<gf2::Word> sources_, targets_;
};

}  // namespace xorder::memory
