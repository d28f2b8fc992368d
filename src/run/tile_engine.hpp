// The tile engine: performs a reordering of data that lies in one file into another, in the passes of its
// plan.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "run/pipeline.hpp"
#include "run/tracker.hpp"
#include "xorder/io/file.hpp"
#include "xorder/plan/plan.hpp"
#include "xorder/run/work.hpp"

namespace xorder::run {

/// What is known of the files before they are there.
struct Circumstances {
  std::uint64_t memory = 0;
  io::Access source = io::Access::direct;
  io::Access target = io::Access::direct;
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t read_alignment = 1;
  bool keep_cached = false;  ///< everything fits in memory: leave the pages there, as cp would
};

class TileEngine {
 public:
  /// Makes the plan. Throws InputError if there is none (plan::make_plan).
  TileEngine(const Reordering& what, const Circumstances& circumstances, const plan::Device& device);

  const plan::Plan& plan() const { return plan_; }
  bool mapped() const { return circumstances_.source == io::Access::mapped; }
  /// Adds the plan's passes and disk.
  void add_to(Summary& all) const;

  using MakeScratch = std::function<io::File(std::uint64_t bytes)>;
  /// Adds to `report` what was moved, and says there how; `pass` is the number of the first pass. Throws
  /// IoError and Cancelled. The files are as the circumstances say, apart from alignments and from direct
  /// access that was refused.
  void run(Place source, Place target, const MakeScratch& make_scratch, unsigned threads, std::size_t pass,
           Tracker& tracker, Report& report, const std::stop_token& stop);

 private:
  bool through_cache() const;
  unsigned queue_depth() const;
  void adopt_alignments(const Place& source, const Place& target, const std::vector<io::File>& scratch);

  Circumstances circumstances_;
  plan::Plan plan_;
};

/// "direct", "buffered" or "mapped".
const char* name(io::Access access);

}  // namespace xorder::run
