// Axis permutations in memory.
//
// Let D be the source's fastest axis, and T the axes that are faster than D in the target. A row of the
// source lies along D. A run of the target lies along T, and runs follow each other along D. Element c of row
// r goes to element r of run c:
//
//          source            target
//     row 0   a b c d     run a   a e i     T has 3 coordinates, D has 4
//     row 1   e f g h     run b   b f j
//     row 2   i j k l     run c   c g k
//                         run d   d h l
//
// This is repeated for each coordinate of the other axes, which are slower than D in the target. A tile is
// some rows by some columns. Runs are transposed into a buffer, and whole lines go from there to the
// target. There are seven kinds. For arrays past the cache, and in it where the next three do not fit:
//
//   runs        a tile is a part of each of some runs; where runs do not begin at lines, it also takes the
//               last few rows of the tile before, to have the whole of the line that both share;
//   short runs  a tile is several of them that follow each other in the target;
//
// for arrays in the cache:
//
//   parcels     boxes are so small that they are permuted in registers, as a whole
//               (kernel/vectors/parcel.hpp);
//   table       rows and runs are so short that the elements of a tile are picked by a table, one by one
//               from the source if they are large enough;
//   direct      blocks go from the rows to the target without a buffer; small matrices of whole blocks, one
//               or many, as a batch (kernel/vectors/batch.hpp);
//
// and besides:
//
//   nested      past the cache, rows and runs are so short that a tile is permuted into a buffer as an array
//               in the cache is;
//   records     elements are so large that they are copied one by one, in the target's order.
//
// The kinds are chosen by estimates of the cycles that each takes.
//
// Where source or target have gaps between their elements (memory/strided.hpp), or one of them is read
// backwards, the same engines do what they can: rows may lie anywhere, and runs, too, as long as each is
// contiguous. What has no rows or no runs is the eighth kind:
//
//   lines       elements go one by one along regular places, or are mirrored in registers.
//
// Which axes make a row is a choice. If D is short, a row also lies along the axes that are next to D in the
// source, and the runs then lie along fewer axes: 512 x 100 x 2 x 224 x 2 bytes, order 1 2 4 3 0, have rows
// of 89600 columns and runs of 512, not rows of 2 and runs of 114688, which is ten times as fast.
//
// Reading decides the speed. A processor reads nothing new while a tile's lines go to the target, so a part
// of the next tile is prefetched before each KiB that is written (write_tile.hpp); a tile and the next one
// fit in the second-level cache. In arrays that are in the third-level cache, the kernels prefetch along
// their rows.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/box/box_axes.hpp"
#include "memory/engine.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// Requires that `what` is canonical and not empty, and that its last axis is not mapped unless it moves.
/// `streamed` means to write past the cache what goes through a buffer, and also the rest unless it is
/// written_directly().
std::unique_ptr<Engine> make_box_engine(const Reordering& what, bool streamed);
/// The same for any axes, not mapped, of an array of so many bytes.
std::unique_ptr<Engine> make_box_engine(TargetAxes target, std::uint64_t bytes, bool streamed);

/// For a batch of maps so short that they are permuted in registers, in an array that is in the cache: a map
/// that permutes bits is an axis permutation, with two coordinates for each axis. Requires that the last axis
/// is mapped and also the target's last. Null if something else is better.
std::unique_ptr<Engine> make_short_map_engine(const Reordering& what);

}  // namespace xorder::memory
