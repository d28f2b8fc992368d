// A pass over tiles, for the executor (run/executor.hpp). A step is a tile, and a unit is one of its groups:
//
//   source ──reads──▶ group slots ──kernels──▶ chunks of tiles ──gathers──▶ write slots ──writes──▶ target
//
// The kernel permutes a group straight into its tile's chunks, and the group's slot is free again. When all
// groups of a tile are permuted, the tile is written run by run; runs that follow each other share requests.
// This frees its chunks for the next tile, which fills up meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "io/file.hpp"
#include "io/output_files.hpp"
#include "plan/plan.hpp"
#include "run/executor.hpp"
#include "verify/comparison.hpp"

namespace xorder::tiles {

struct PassFiles {
  std::vector<io::Location> sources;  ///< one, unless the pass reads several files
  io::Location target;
  std::uint64_t read_alignment = 1, write_alignment = 1;  ///< as in the plan; at least those of the files
  verify::Comparison* comparison = nullptr;               ///< told of all that is read, if not null
  /// If the pass writes several files: each has `part_bytes` of the target, from the target's offset on.
  io::OutputFiles* parts = nullptr;
  std::uint64_t part_bytes = 0;
};

/// Memory for any of the passes, one after the other. Throws std::bad_alloc.
io::BlockMemory memory_for(const std::vector<plan::Pass>& passes);

/// The tiles [first, last) of a pass.
struct TileRange {
  std::uint64_t first = 0, last = 0;
};

/// Performs the pass. Throws as run::execute() does. Uses pass.memory() bytes of memory.
void run_pass(const plan::Pass& pass, const PassFiles& files, io::Queue& queue,
              const run::Environment& environment);

/// The same for some of its tiles. Returns the parts of blocks that they share with other tiles.
std::vector<io::BlockPart> run_tiles(const plan::Pass& pass, TileRange tiles, const PassFiles& files,
                                     io::Queue& queue, const run::Environment& environment);

}  // namespace xorder::tiles
