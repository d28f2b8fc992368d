// The tile engine reorders data from one file into another, in the passes of its plan.
#pragma once

#include <vector>

#include "io/file.hpp"
#include "plan/plan.hpp"
#include "tiles/pipeline.hpp"
#include "work/access.hpp"
#include "work/run.hpp"
#include "work/team.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::tiles {

class TileEngine {
 public:
  /// Makes the plan. Throws InputError if there is none (plan::make_plan). In a team, each member performs a
  /// share of every pass's tiles.
  TileEngine(const Reordering& what, const work::Circumstances& circumstances, const plan::Device& device,
             const work::Team* team = nullptr);

  const plan::Plan& plan() const { return plan_; }
  std::vector<plan::PassSummary> passes() const;

  /// Collective in a team. Moves the data from the source to the target, which are files of the run or its
  /// scratch files. `pass` is the number of the first pass. The files must be as the circumstances say,
  /// except for alignments and for direct access that was refused. Throws IoError and Cancelled.
  void run(work::Run& run, io::Location source, io::Location target, std::size_t pass);

 private:
  unsigned queue_depth() const;
  void perform(work::Run& run, const plan::Pass& pass, const PassFiles& files, io::Queue& queue,
               task::Workers& workers, std::size_t number);
  void adopt_alignments(const io::Location& source, const io::Location& target,
                        const std::vector<io::File>& scratch, work::Team* team);

  work::Circumstances circumstances_;
  plan::Plan plan_;
};

}  // namespace xorder::tiles
