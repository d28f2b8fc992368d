// Running one pass: tiles flow from the source through memory to the target.
//
//   source ──reads──▶ group slots ──kernels──▶ chunks of tiles ──gathers──▶ write slots ──writes──▶ target
//
// One thread, the conductor, drives it all and touches all bookkeeping; it sleeps in Queue::wait(). Groups
// are read one after the other, several at once; a group whose runs have all come is permuted by a task of
// the TBB arena straight into its tile's chunks, and frees its slot. A tile whose groups have all been
// permuted is written run by run, which frees its chunks for the next one, that fills up meanwhile. All
// memory is allocated before the first transfer: free slots and chunks are what lets a stage go on, and
// nothing else holds it back.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "io/carry.hpp"
#include "io/file.hpp"
#include "io/queue.hpp"
#include "plan/plan.hpp"
#include "task/workers.hpp"

namespace xorder::tiles {

struct PassFiles {
  io::Location source, target;
  std::uint64_t read_alignment = 1, write_alignment = 1;  ///< the plan's, and enough for the files
};

/// What a pass runs in.
struct PassSetting {
  task::Workers& workers;
  /// Called by the thread that runs the pass, after each handful of transfers.
  std::function<void()> tick;
  std::stop_token stop;
};

/// Some of the tiles of a pass: from `first` to the one before `last`.
struct TileRange {
  std::uint64_t first = 0, last = 0;
};

/// Performs the pass. Throws IoError for the first transfer that failed and Cancelled when asked to stop, in
/// both cases after everything in flight has ended. Memory: pass.memory().
void run_pass(const plan::Pass& pass, const PassFiles& files, io::Queue& queue, const PassSetting& setting);

/// The same for some of its tiles. Returns the parts of blocks that they share with others.
std::vector<io::BlockPart> run_tiles(const plan::Pass& pass, TileRange tiles, const PassFiles& files,
                                     io::Queue& queue, const PassSetting& setting);

}  // namespace xorder::tiles
