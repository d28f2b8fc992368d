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

#include <oneapi/tbb/task_arena.h>

#include <cstdint>
#include <functional>
#include <stop_token>

#include "io/file.hpp"
#include "io/queue.hpp"
#include "plan/plan.hpp"

namespace xorder::tiles {

struct PassCounters {
  std::uint64_t bytes_read = 0;  ///< as asked of the file: with supersets
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
};

/// Performs the pass. The plan's alignments must be those of the files. `progress` is called by this thread
/// with the bytes read and written so far, after each handful of transfers. Throws IoError for the first
/// transfer that failed and Cancelled when asked to stop, in both cases after everything in flight has ended.
/// Memory: pass.memory().
PassCounters run_pass(const plan::Pass& pass, io::Location source, io::Location target,
                      std::uint64_t read_alignment, std::uint64_t write_alignment, io::Queue& queue,
                      oneapi::tbb::task_arena& arena,
                      const std::function<void(const PassCounters&)>& progress, std::stop_token stop);

}  // namespace xorder::tiles
