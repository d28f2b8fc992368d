// Axis permutations in memory.
//
// Let D be the source's fastest axis and T the target's axes that are faster than D there. A row of the
// source is what lies along D; a run of the target is what lies along T, and follows the one before it along
// D. Element c of row r goes to element r of run c:
//
//          source            target
//     row 0   a b c d     run a   a e i     T has 3 coordinates, D has 4
//     row 1   e f g h     run b   b f j
//     row 2   i j k l     run c   c g k
//                         run d   d h l
//
// for each coordinate of the other axes, which are slower than D in the target. A tile is some rows by some
// columns. It is transposed into a buffer in the first-level cache, from which whole lines go to the target.
// Where runs do not begin at lines, a tile also takes the last few rows of the one before, to have the whole
// of the line that both share. There are four kinds:
//
//   runs      a tile is a piece of each of some runs;
//   pieces    the runs are short, and a tile is several of them as they lie in the target, one after the other;
//   direct    the array is in the cache, and blocks go from the rows to the target without a buffer;
//   records   elements are so large that they are copied one by one, in the target's order.
//
// Reading decides the speed. The hardware fetches ahead on some dozens of streams, if each goes on for a KiB
// or more, and much faster than a program can ask for single lines. So tiles follow each other along the
// rows, of which there are few. Writing is not as particular: pieces of 128 bytes are written as fast as
// anything.
#pragma once

#include <memory>

#include "memory/engine.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// `what` is canonical and not empty; its last axis is not mapped unless it moves. `streamed`: past the
/// cache.
std::unique_ptr<Engine> make_box_engine(const Reordering& what, bool streamed);

}  // namespace xorder::memory
