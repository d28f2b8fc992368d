// The iterations between blocks, or all iterations, on strips of records in memory, by virtual processors
// (plan/descend/node_runs.hpp says what they own and send).
#pragma once

#include <stop_token>

#include "descend/sweeps.hpp"
#include "plan/descend/sweeps.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {

class NodeStrips {
 public:
  /// For the plan's sweep with `nodes`. Requires that it is made and used in the arena in which the machine
  /// is to run. Adds to `traffic` what is sent, with its time if there are link times.
  NodeStrips(const plan::SweepPlan& plan, descend::Computation& what, schedule::Traffic& traffic,
             std::stop_token stop);
  ~NodeStrips();

  /// descend::ComputeStrip. Throws what the computation throws, and Cancelled.
  void compute(const descend::Strip& strip, std::byte* records);

 private:
  class Runs;
  const plan::SweepPlan& plan_;
  const plan::NodeRuns& nodes_;
  schedule::Traffic& traffic_;
  std::stop_token stop_;
  std::unique_ptr<Runs> runs_;
  Machine machine_;
};

}  // namespace xorder::machine
