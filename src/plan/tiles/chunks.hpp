// Memory for a tile, handed out as it is needed.
//
// A tile is filled group by group, and each group adds one piece to every target run it touches. So at first
// only the beginnings of the runs (or, for maps, some equally small part of each) need memory. Runs are
// therefore assembled in *chunks*: a few pieces of one run, contiguous in memory; chunks may lie anywhere. A
// chunk is taken from a pool when the first group that touches it begins, and goes back when it has been
// written. The next tile grows at the rate at which the last one goes away. So memory holds little more than
// one tile, while a whole buffer for each would take two, and blocks can be √2 times as large.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tiles/tiling.hpp"

namespace xorder::plan {

/// Chunk number of a tile = run number · per_run + number within the run.
struct ChunkShape {
  /// Elements of a chunk, a multiple of a group's piece. The last chunk of a run may hold fewer.
  std::uint64_t elements = 1;
  std::uint64_t per_run = 1;
  int mapped_low = 0;             ///< how many low bits of z move within a chunk
  std::uint64_t mapped_step = 0;  ///< from one value of z's other bits to the next, in chunk numbers
};

/// Chunks of about `wanted` elements, with as little waste as possible. Chunks are whole runs if groups do
/// not cut runs into consecutive pieces, or if a run is no larger than `wanted`.
ChunkShape chunk_shape(const Reordering& what, const TileChoice& choice, const RunShape& target,
                       std::uint64_t wanted);

/// The numbers of all chunks that the group touches, each once.
void target_chunks(const Tiling& tiling, const ChunkShape& shape, const Group& group,
                   std::vector<std::uint64_t>& chunks);

}  // namespace xorder::plan
