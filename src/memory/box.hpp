// Axis permutations in memory.
//
// Let D be the source's fastest axis and T the target's axes that are faster than D there. A row of the source is what lies
// along D; a run of the target is what lies along T, and follows the one before it along D. Element c of row r goes to element
// r of run c:
//
//          source            target
//     row 0   a b c d     run a   a e i     T has 3 coordinates, D has 4
//     row 1   e f g h     run b   b f j
//     row 2   i j k l     run c   c g k
//                         run d   d h l
//
// for each coordinate of the other axes, which are slower than D in both or between the rows. A tile is some rows by some
// columns. It is transposed into a buffer in the first-level cache, from which whole lines go to the target. There are three
// ways to go on:
//
//   runs      tiles follow each other along the runs; what is left of a run after its last whole line waits in the buffer for
//             the next tile, so that no run needs to begin at a line;
//   pieces    the runs are short, and the buffer holds several of them as they lie in the target, one after the other;
//   records   elements are so large that they are copied one by one, in the target's order.
#pragma once

#include <memory>

#include "memory/engine.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// `what` is canonical and not empty; its last axis is not mapped unless it moves. `streamed`: past the cache.
std::unique_ptr<Engine> make_box_engine(const Reordering& what, bool streamed);

}  // namespace xorder::memory
