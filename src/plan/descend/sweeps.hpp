// How a ±2^b-descend computation on files larger than memory is cut into sweeps.
//
// A *sweep* reads everything once, performs iterations b with low ≤ b < high, and writes everything once. In
// them rows of 2^low records meet, column by column, so a sweep goes *strip* by strip: some columns of all
// rows.
//
//      columns (index mod 2^low)
//      +----+----+----+---       gathered: high = lg M. All rows meet, cyclically; memory holds a strip.
// rows |    | s  |    |
//      |    | t  |    |          streamed: high < lg M. A row depends on 2^(high−low) − 1 rows above and
//      |    | r  |    |          below. A window slides down the strip, *slice* by slice; rows are read once,
//      |    | i  |    |          but for those at both ends of the strip: indices are mod M, so the first
//      |    | p  |    |          slices depend on the last ones, and the last on the first.
//      +----+----+----+---
//
// Within a strip the iterations are done in groups that fit in the cache (cache_groups.hpp). Each group has a
// window of its own over the results of the group before. So nothing but the ends is read twice, and a sweep
// may write where it reads: a slice is written after all slices that depend on it have been read; the first
// few stay in memory for the last.
//
// A row of a strip is a request. A sweep of few iterations has few rows in memory, so they can be long; but
// more sweeps move more bytes. The plan is the one that takes the device the least time. The lowest sweep's
// strip has rows of one record, so that it reads the file from one end to the other. The 2^high records that
// meet there are the *block* of one of Hu's P processors. An array that fits in memory twice can be one
// gathered sweep of one strip; but fresh memory takes time, and two sweeps with little of it may take less.
//
// A sweep whose iterations all read nothing but the record itself is left out: there is nothing to do.
//
// If virtual processors do the iterations between blocks (node_runs.hpp), these are one gathered sweep, the
// first of descend and the last of ascend, whatever the size of a block. The others are as above.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/descend/cache_groups.hpp"
#include "plan/descend/node_runs.hpp"
#include "plan/price.hpp"
#include "plan/setting.hpp"
#include "schedule/descend/neighbours.hpp"
#include "xorder/plan/summary.hpp"
#include "xorder/plan/sweep_sizes.hpp"

namespace xorder::plan {

struct Sweep {
  Iterations iterations;
  bool gathered = false;
  int lg_columns = 0;        ///< of a strip
  int lg_slice = 0;          ///< records that are read at once: the strip, if it is gathered
  unsigned in_flight = 0;    ///< slices, besides those in windows
  std::uint64_t slices = 0;  ///< in memory at once
  /// Whether it writes where it reads what the sweep before it wrote.
  bool in_place = false;
  bool reads_input = false;  ///< rather than what the sweep before it wrote
  /// Whether a gathered strip is computed from one buffer to another: there is more than one group in it.
  bool two_buffers = false;
  /// Records of a strip are numbered row by row; in these numbers the iterations are lg_columns and up.
  std::vector<Iterations> groups;
  /// The runs of virtual processors, if they compute this sweep: the top iterations, in gathered strips, or
  /// all iterations.
  std::optional<NodeRuns> nodes;
  PassSummary pass;  ///< bytes_read without what is read twice
  Load load;         ///< with it, but without memory

  /// On how many slices before a slice, and as many after it, this group's results depend.
  std::uint64_t halo_slices(Iterations group) const;
  /// The sum over all groups.
  std::uint64_t halo_slices() const;
};

struct SweepPlan {
  SweepTask task;
  Setting setting;
  int lg_block = 0;      ///< lg V
  unsigned threads = 0;  ///< that compute
  std::uint64_t request_bytes = 0;
  /// What is converted on its way, or lies in other places within blocks than in a file, goes through a slot.
  /// There are as many for reads as for writes.
  std::uint64_t slots = 0, slot_bytes = 0;
  Cache cache;
  std::vector<Sweep> sweeps;                           ///< in the order in which they are made; at least one
  std::shared_ptr<const schedule::Schedule> schedule;  ///< of the sweep with `nodes`, if there is one
  /// What virtual processors need of others for the iterations within blocks, if anything.
  std::shared_ptr<const schedule::Neighbours> neighbours;

  std::uint64_t processors() const { return std::uint64_t{1} << (task.lg_size - lg_block); }
  /// The records between sweeps lie in the output's file, unless they have another size than its elements or
  /// the run is resumable. Otherwise sweeps write to these files, in turn.
  std::uint64_t scratch_files() const;
  std::uint64_t scratch_file_bytes() const { return task.record_bytes * task.elements(); }
  std::uint64_t scratch_bytes() const { return scratch_files() * scratch_file_bytes(); }
  /// Steps of both. Those that only differ in the runs that they carry are counted once.
  std::uint64_t steps() const {
    return (schedule ? schedule->steps() : 0) + (neighbours ? neighbours->stages() : 0);
  }
  /// The name of the virtual processors' schedule; empty without them.
  std::string schedule_name() const;
  /// The runs of the sweep by virtual processors, or nullptr.
  const NodeRuns* nodes() const;
  /// Predicted.
  double seconds() const;
  /// For people, line by line.
  std::string describe() const;

 private:
  std::string describe_schedule() const;
};

/// The sweeps that take the least time, that until their memory is there included, and keep within the
/// memory. Pure; takes some milliseconds. Throws InputError if no sweeps fit, saying what would, and for
/// sizes that are not powers of two or are too large.
SweepPlan plan_sweeps(const SweepTask& task, const Setting& setting, const SweepSizes& given = {});

}  // namespace xorder::plan
