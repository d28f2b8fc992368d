// Runs one pass: tiles flow from the source through memory to the target.
//
//   source ──reads──▶ group slots ──kernels──▶ chunks of tiles ──gathers──▶ write slots ──writes──▶ target
//
// One thread, the conductor, starts everything and alone does the bookkeeping. It sleeps in
// Queue::wait(). Groups are read in order, with several in flight. When all runs of a group have come, a
// task of the TBB arena permutes it straight into its tile's chunks, and its slot is free again. When all
// groups of a tile are permuted, the tile is written run by run; runs that follow each other share
// requests. This frees its chunks for the next tile, which fills up meanwhile. The slots and chunks are
// allocated before the first transfer, once for all passes. A stage goes on as long as slots and chunks
// are free and its direction has room in the queue.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "io/carry.hpp"
#include "io/file.hpp"
#include "io/memory.hpp"
#include "io/queue/queue.hpp"
#include "plan/plan.hpp"
#include "task/workers.hpp"

namespace xorder::tiles {

struct PassFiles {
  io::Location source, target;
  std::uint64_t read_alignment = 1, write_alignment = 1;  ///< as in the plan; at least those of the files
};

/// Memory for any of the passes, one after the other. Throws std::bad_alloc.
io::BlockMemory memory_for(const std::vector<plan::Pass>& passes);

/// The environment of a pass.
struct PassSetting {
  io::BlockMemory& memory;  ///< of memory_for(); abandoned if transfers may still be in flight at the end
  task::Workers& workers;
  /// Called by the thread that runs the pass, after every few transfers.
  std::function<void()> tick;
  std::stop_token stop;
};

/// The tiles [first, last) of a pass.
struct TileRange {
  std::uint64_t first = 0, last = 0;
};

/// Performs the pass. Throws IoError for the first transfer that failed, and Cancelled when asked to stop, in
/// both cases after all transfers in flight have ended. Uses pass.memory() bytes of memory.
void run_pass(const plan::Pass& pass, const PassFiles& files, io::Queue& queue, const PassSetting& setting);

/// The same for some of its tiles. Returns the parts of blocks that they share with other tiles.
std::vector<io::BlockPart> run_tiles(const plan::Pass& pass, TileRange tiles, const PassFiles& files,
                                     io::Queue& queue, const PassSetting& setting);

}  // namespace xorder::tiles
