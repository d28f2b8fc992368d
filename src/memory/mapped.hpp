// A BMMC permutation as this engine sees it: a map, elements, and what it is repeated along.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/offsets.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

struct Mapped {
  std::uint64_t element_bytes = 1;
  gf2::AffineMap map;
  std::vector<TargetAxis> outer;  ///< fastest first
  std::uint64_t outer_count = 1;

  std::uint64_t bytes() const { return element_bytes << map.bits(); }
};

/// `what` is canonical and its last axis is mapped and also the target's last. What is larger than 16 bytes
/// and a power of two becomes several elements, and as much of a batch as is a power of two becomes part of
/// the map.
Mapped mapped_of(const Reordering& what);

/// Source runs of 256 bytes and target segments of 128 (a line of each with 1-byte elements), or fewer
/// elements if there are no more. Where few lines make a tile, longer ones, so that there is something to do
/// in a tile.
struct TileShape {
  int source_bits, target_bits;
};
TileShape tile_shape(const gf2::AffineMap& map, std::uint64_t element_bytes);

}  // namespace xorder::memory
