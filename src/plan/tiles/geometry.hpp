// How a choice of tiles lies in the two files: what memory and time depend on.
#pragma once

#include <cstdint>

#include "plan/setting.hpp"
#include "plan/tiles/tiling.hpp"

namespace xorder::plan {

struct Geometry {
  TileChoice choice;
  RunShape source;  ///< of a group
  RunShape target;  ///< of a tile
  /// Of a tile too, but runs that follow each other in the target are one, as they are written. This is the
  /// same as `target` unless the choice limits the runs' axes.
  RunShape written;
  std::uint64_t tile_elements = 0;
  std::uint64_t tiles = 0;
  std::uint64_t groups = 0;
  /// Whether all runs, as they are read and written, begin and end at multiples of the setting's
  /// alignments.
  bool source_aligned = false;
  bool target_aligned = false;
  /// Bytes of an average run, as it is read and written. Runs at the edge of an axis that does not divide
  /// evenly are shorter.
  std::uint64_t source_block = 0;
  std::uint64_t target_block = 0;
};

/// Completes the geometry of g.choice, whose tiles span 2^tile_bits coordinates of the mapped axis, in groups
/// that span 2^group_bits. False if a tile does not fit in the memory. Planners call this for each of
/// thousands of choices with the same `g`, which keeps what it has allocated.
bool complete(const Reordering& what, const Setting& setting, int tile_bits, int group_bits, Geometry& g);

}  // namespace xorder::plan
