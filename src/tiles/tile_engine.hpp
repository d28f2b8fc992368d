// The tile engine reorders data from one file into another, in the passes of its plan.
#pragma once

#include <string>
#include <vector>

#include "io/file.hpp"
#include "plan/plan.hpp"
#include "tiles/tile_pass.hpp"
#include "work/relay.hpp"
#include "work/run.hpp"
#include "work/team.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::tiles {

/// The passes [first, last) of a run, and where an engine's data begin in the files of each of them.
struct PassRange {
  std::size_t first = 0, last = 1;
  std::uint64_t offset = 0;
};

class TileEngine {
 public:
  /// Makes the plan. Throws InputError if there is none (plan::make_plan). If the setting has several
  /// processes, each performs a share of every pass's tiles.
  TileEngine(const Reordering& what, const plan::Setting& setting);

  const plan::Plan& plan() const { return plan_; }
  /// What more room for scratch files would gain, or empty.
  std::string note() const;
  std::vector<plan::PassSummary> passes() const;
  /// All that decides which bytes a tile has, as text.
  std::string steps() const;

  /// Collective in a team. Makes the plan again if the files of a run need larger alignments than were
  /// assumed. Throws IoError if there is none with as many passes.
  void adopt_alignments(const work::Run& run, const work::Relay& relay, const PassRange& range);

  /// Collective in a team. Moves the data from the source of the first pass in the range to the target of the
  /// last one. If the plan has fewer passes, they are the last ones of the range, but the first of them reads
  /// the source of the range. That must be the input then, as this pass may write any scratch file. Requires
  /// adopt_alignments(). The files must be as the setting says, except for direct access that was refused.
  /// Leaves Relay::finish() of the last pass to the caller. Throws IoError and Cancelled. `comparison`, if
  /// not null, is told of all that is read of the source.
  void run(work::Run& run, const work::Relay& relay, const PassRange& range,
           verify::Comparison* comparison = nullptr);

 private:
  /// Of each pass; and the inputs, if the first pass reads files of any layout.
  struct Files {
    std::vector<io::Location> sources, targets, inputs;
  };
  Files files(const work::Run& run, const work::Relay& relay, const PassRange& range) const;
  unsigned queue_depth() const;
  void perform(work::Run& run, std::size_t index, const PassFiles& files, io::Queue& queue,
               const run::Environment& environment, std::size_t number);

  plan::Plan plan_;
};

}  // namespace xorder::tiles
