// The runs of records that virtual processors compute with, if they do the iterations between blocks.
//
// Processor i owns block i. Of a strip (sweeps.hpp) it has the row that lies in its block, cut into *runs* of
// records: a run is a slot of the schedule, and a message carries a run. Each execution of the schedule, from
// its first step to its last, takes some runs of every row through the iterations.
//
//   aspc        one run at a time, one iteration after the other (schedule/descend/plus_minus.hpp)
//   pipelined   all runs of a row, different ones in different iterations at once
//               (schedule/descend/descend.hpp). If the array has few records and is at most half of the
//               memory, runs are single records and the iterations within blocks are part of the
//               schedule: this is the whole of Hu's schedule
//
// Runs are short enough that the messages under way stay in the cache, and long enough that their bytes cost
// more than the messages themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "xorder/schedule/schedule.hpp"
#include "xorder/schedule/timing.hpp"

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
  std::uint64_t message_bytes = 0;  ///< at most; 0 lets the planner choose
  std::optional<schedule::LinkTimes> link_times{};

  int lg_processors() const { return lg_size - lg_block; }
};

struct NodeRuns {
  bool whole = false;        ///< iterations within blocks are part of the schedule
  int lg_run = 0;            ///< lg of the records of a run
  int lg_runs = 0;           ///< lg of each processor's runs in one execution of the schedule
  std::uint64_t memory = 0;  ///< of processors, schedule and messages

  /// How often the schedule is executed for blocks of 2^lg_block records.
  std::uint64_t times(int lg_block) const { return std::uint64_t{1} << (lg_block - lg_run - lg_runs); }
};

/// The runs of rows of 2^lg_row records: the longest useful ones whose NodeRuns::memory is at most a quarter
/// of `memory`, or single records.
NodeRuns node_runs(const NodeConditions& conditions, int lg_row, std::uint64_t memory);
/// The runs of the whole schedule, on an array in memory.
NodeRuns whole_schedule(const NodeConditions& conditions);

/// The schedule. Its iteration b, on runs, is iteration b + conditions.lg_block − lg_runs of the array. O(V)
/// if it is whole.
std::shared_ptr<const schedule::Schedule> node_schedule(const NodeConditions& conditions,
                                                        const NodeRuns& runs);

}  // namespace xorder::plan
