// What virtual processors compute with, where the iterations between blocks are theirs.
//
// Processor i owns block i. Of a strip (sweeps.hpp) it has the row that lies in its block, cut into *runs* of
// records: a run is a slot of the schedule, and a message carries a run. Each way that the schedule is run
// from its first step to its last takes some runs of every row through the iterations.
//
//   aspc        one run at a time, one iteration after the other (schedule/plus_minus.hpp)
//   pipelined   all runs of a row, in as many iterations at once (schedule/descend.hpp); of an array that is
//               at most half of the memory, runs are single records, and the iterations within blocks are
//               part of the schedule: the whole of it as Hu has it
//
// Runs are so short that what is on its way stays in the cache, and so long that it costs more than its
// message.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "xorder/schedule/schedule.hpp"

namespace xorder::plan {

/// Who computes the iterations between blocks: the threads, in memory that they share, or virtual processors.
enum class Between { threads, aspc, pipelined };

struct NodeConditions {
  Between between = Between::aspc;
  bool ascend = false;
  int lg_size = 0;
  int lg_block = 0;
  std::uint64_t record_bytes = 1;
  schedule::Reads reads;  ///< of the array's iterations; what is not read is not sent
  unsigned threads = 1;
  std::uint64_t message_bytes = 0;  ///< at most; 0: as is best

  int lg_processors() const { return lg_size - lg_block; }
};

struct NodeRuns {
  bool whole = false;        ///< iterations within blocks are part of the schedule
  int lg_run = 0;            ///< records of a run
  int lg_runs = 0;           ///< of each processor, when the schedule is run once
  std::uint64_t memory = 0;  ///< of processors, schedule and messages

  /// How often the schedule is run for blocks of 2^lg_block records.
  std::uint64_t times(int lg_block) const { return std::uint64_t{1} << (lg_block - lg_run - lg_runs); }
};

/// For rows of 2^lg_row records: the longest runs that are of use and with which messages take no more than a
/// quarter of the memory, or single records.
NodeRuns node_runs(const NodeConditions& conditions, int lg_row, std::uint64_t memory);
/// For the whole of the schedule, on an array in memory.
NodeRuns whole_blocks(const NodeConditions& conditions);

/// The schedule; its iterations b are those of runs, b + conditions.lg_block − lg_runs of the array. O(V) if
/// it is whole.
std::shared_ptr<const schedule::Schedule> node_schedule(const NodeConditions& conditions,
                                                        const NodeRuns& runs);

}  // namespace xorder::plan
