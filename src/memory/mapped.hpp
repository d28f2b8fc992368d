// A BMMC permutation for the engines: a map, elements, and the axes along which it is repeated.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "kernel/linear/line_tiles.hpp"
#include "kernel/linear/tile_shape.hpp"
#include "memory/micro.hpp"
#include "memory/offsets.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

struct Mapped {
  std::uint64_t element_bytes = 1;
  gf2::AffineMap map;
  std::vector<StridedAxis> outer;  ///< fastest first
  std::uint64_t outer_count = 1;

  std::uint64_t bytes() const { return element_bytes << map.bits(); }
  /// Whether the map can be performed line by line, see kernel/linear/line_tiles.hpp.
  bool has_lines() const { return std::has_single_bit(element_bytes) && bytes() >= line_bytes; }
};

/// Requires that `what` is canonical and that its last axis is mapped and also the target's last. Elements of
/// a power of two above 16 bytes are split into several elements. The largest power of two that divides a
/// batch becomes part of the map.
Mapped mapped_of(const Reordering& what);

/// Shapes of tiles of lines. Runs and segments are never longer than the map has. They are longer than said
/// here if a tile would have few lines, so that there is enough to do in a tile. For arrays that are
/// written_directly():
kernel::TileShape cached_shape(const gf2::AffineMap& map, std::uint64_t element_bytes,
                               std::uint64_t array_bytes);
/// Lines on both sides.
kernel::TileShape smallest_shape(const gf2::AffineMap& map, std::uint64_t element_bytes);
/// Up to 128 KiB, the largest tiles that leave the second-level cache room for the next one.
kernel::TileShape large_shape(const gf2::AffineMap& map, std::uint64_t element_bytes);
/// The same for runs that share sets and targets that begin at a line: fewer and longer runs.
kernel::TileShape long_runs_shape(const gf2::AffineMap& map, std::uint64_t element_bytes);

/// Whether a tile has more runs than the second-level cache has ways, and they all begin at the same place in
/// the ways, as those of a bit reversal do. Then hardly any line that was prefetched is still in that cache
/// when it is read.
bool runs_share_sets(const gf2::AffineMap& map, std::uint64_t element_bytes, kernel::TileShape shape);

/// Requires a map that has_lines().
kernel::LineTiles line_tiles(const Mapped& mapped, kernel::TileShape shape);

/// For elements that have no lines: runs and segments of at most 4 KiB, and tiles that fit into the
/// first-level cache.
kernel::TileShape record_shape(const gf2::AffineMap& map, std::uint64_t element_bytes);

}  // namespace xorder::memory
