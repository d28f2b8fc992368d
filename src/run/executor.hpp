// Runs a pass: the only place with transfers in flight.
//
// One thread, the conductor, starts everything and alone does the bookkeeping. It sleeps in Queue::wait().
// Units are read in order, with several in flight. When all ranges of a unit have come, a task of the workers
// decodes it. When all units of a step are decoded, a task computes it, and then it is written, after other
// tasks that encode what is written. Reading and writing go on as long as the pass has memory and their
// direction has room in the queue.
#pragma once

#include <functional>
#include <stop_token>

#include "io/carry.hpp"
#include "io/memory.hpp"
#include "io/queue/queue.hpp"
#include "run/pass.hpp"
#include "task/workers.hpp"

namespace xorder::run {

/// The environment of a pass.
struct Environment {
  io::BlockMemory& memory;  ///< the pass's; abandoned if transfers may still be in flight at the end
  task::Workers& workers;
  /// Called by the thread that runs the pass, many times per second.
  std::function<void()> tick;
  std::stop_token stop;
};

/// Performs the pass. Blocks that several writes share come together in `carry`, which is for the target's
/// files and the rules' write alignment; those that are shared with what other passes write stay there.
/// Throws IoError for the first transfer that failed, what the pass or `tick` throws, and Cancelled when
/// asked to stop, always after all transfers in flight have ended. Takes some hundred bytes of memory for
/// each request in flight.
void execute(Pass& pass, io::Carry& carry, io::Queue& queue, const Environment& environment);

}  // namespace xorder::run
