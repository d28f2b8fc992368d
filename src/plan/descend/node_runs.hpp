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

/// A ±2^b-descend computation on M = 2^lg_size records, as far as plans depend on it.
struct SweepTask {
  int lg_size = 0;
  std::uint64_t missing = 0;       ///< records of M behind the arrays, which are not transferred
  bool ascend = false;             ///< b goes up
  std::uint64_t record_bytes = 1;  ///< of a record, in the computation and between sweeps
  std::uint64_t inputs = 1;
  std::uint64_t input_bytes = 1;   ///< from which a record is made, of all inputs
  std::uint64_t output_bytes = 1;  ///< that are made of a record
  Between between = Between::threads;
  schedule::Reads reads{};  ///< an iteration that reads neither leaves everything as it is
  std::optional<schedule::LinkTimes> link_times{};  ///< if virtual processors' messages are timed
  bool resumable = false;  ///< no sweep writes where it reads, so that it can be done again

  std::uint64_t elements() const { return (std::uint64_t{1} << lg_size) - missing; }
  std::uint64_t array_bytes() const { return record_bytes << lg_size; }
};

/// The virtual processors of a task, each with a block.
struct Nodes {
  SweepTask task;
  int lg_block = 0;
  unsigned threads = 1;
  std::uint64_t message_bytes = 0;  ///< at most; 0 lets the planner choose

  int lg_processors() const { return task.lg_size - lg_block; }
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
NodeRuns node_runs(const Nodes& nodes, int lg_row, std::uint64_t memory);
/// The runs of the whole schedule, on an array in memory.
NodeRuns whole_schedule(const Nodes& nodes);

/// The schedule. Its iteration b, on runs, is iteration b + nodes.lg_block − lg_runs of the array. O(V)
/// if it is whole.
std::shared_ptr<const schedule::Schedule> node_schedule(const Nodes& nodes, const NodeRuns& runs);

}  // namespace xorder::plan
