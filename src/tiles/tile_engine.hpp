// The tile engine: performs a reordering of data that lies in one file into another, in the passes of its
// plan.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "io/file.hpp"
#include "plan/plan.hpp"
#include "tiles/pipeline.hpp"
#include "work/access.hpp"
#include "work/tracker.hpp"
#include "xorder/work/work.hpp"

namespace xorder::tiles {

class TileEngine {
 public:
  /// Makes the plan. Throws InputError if there is none (plan::make_plan).
  TileEngine(const Reordering& what, const work::Circumstances& circumstances, const plan::Device& device);

  const plan::Plan& plan() const { return plan_; }
  bool mapped() const { return circumstances_.mapped(); }
  /// Adds the plan's passes and disk.
  void add_to(work::Summary& all) const;

  using MakeScratch = std::function<io::File(std::uint64_t bytes)>;
  /// Adds to `report` what was moved, and says there how; `pass` is the number of the first pass. Throws
  /// IoError and Cancelled. The files are as the circumstances say, apart from alignments and from direct
  /// access that was refused.
  void run(io::Location source, io::Location target, const MakeScratch& make_scratch, unsigned threads,
           std::size_t pass, work::Tracker& tracker, work::Report& report, const std::stop_token& stop);

 private:
  unsigned queue_depth() const;
  void adopt_alignments(const io::Location& source, const io::Location& target,
                        const std::vector<io::File>& scratch);

  work::Circumstances circumstances_;
  plan::Plan plan_;
};

}  // namespace xorder::tiles
