// The two sweeps over a file that is larger than memory, and the one over a file that is not.
//
//              block 0     block 1     block 2          P blocks of V records
//            +-----------+-----------+-----------+---
//   tile     | ::        | ::        | ::        |      inter-node: equal offsets in all blocks meet only
//            +-----------+-----------+-----------+---   each other in iterations b ≥ lg V
//   window        [ . . . . | X | . . . . ]             local: what a chunk X becomes in iterations b < lg V
//            +-----------+-----------+-----------+---   depends on V − 1 records before it and after it
//
// The local sweep reads the file once from the beginning to the end. Its iterations are done in groups, one
// *stage* for each: a stage keeps a window of the chunks that the one before it has made, and when a chunk
// has got all that it depends on, makes it what it is after the group. So values before an iteration are kept
// for as long as they are needed, nothing is computed twice but within the tiles of a stage, and the output
// may lie where the input does: a chunk is written after all that need it have been read; the first few are
// needed again at the end, as indices are mod M, and stay in memory.
#pragma once

#include <stop_token>

#include "descend/cut.hpp"
#include "descend/groups.hpp"
#include "descend/records.hpp"

namespace xorder::descend {

/// All throw IoError, Cancelled, and what the computation throws. They are to be called in an arena.

/// All iterations, in memory.
void whole_sweep(Groups& groups, const Cut& cut, RecordSource& from, RecordSink& to,
                 const std::stop_token& stop);

/// Iterations b ≥ lg V. `to` may lie where `from` does.
void inter_node_sweep(Groups& groups, const Cut& cut, RecordSource& from, RecordSink& to,
                      const std::stop_token& stop);

/// Iterations b < lg V. `in_place`: `to` lies where `from` does.
void local_sweep(Groups& groups, const Cut& cut, RecordSource& from, RecordSink& to, bool in_place,
                 const std::stop_token& stop);

}  // namespace xorder::descend
