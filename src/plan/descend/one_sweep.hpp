// One sweep of a plan: how wide its strips and how large its slices are, and what it takes.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/descend/sweeps.hpp"

namespace xorder::plan {

class SweepMaker {
 public:
  SweepMaker(const SweepTask& task, const Setting& setting, const SweepSizes& given);

  /// A plan without sweeps, and what all its sweeps have in common.
  const SweepPlan& empty_plan() const { return plan_; }
  /// Whether there is nothing to do in these iterations.
  bool is_idle(Iterations b) const;
  Nodes nodes(int lg_block) const;
  /// The sweep with the widest useful strips that fit in the memory, if any fit; an idle one with nothing but
  /// its iterations. Virtual processors do the iterations if `on_nodes`.
  std::optional<Sweep> make(Iterations b, bool on_nodes) const;
  /// One sweep with the whole schedule of virtual processors, if the array has few records and is at most
  /// half of the memory. (Each record takes many messages, so large arrays would take hours.)
  std::optional<Sweep> whole(int lg_block) const;
  /// The predicted time if so much memory is taken, of which a part was touched before.
  double seconds(const Sweep& sweep, std::uint64_t memory, std::uint64_t touched) const;

 private:
  int lg_size() const { return plan_.task.lg_size; }
  bool ascend() const { return plan_.task.ascend; }
  std::uint64_t record() const { return plan_.task.record_bytes; }
  Sweep read_and_written(Iterations b) const;
  bool set_slices(Sweep& one, bool on_nodes) const;
  bool fits(Sweep& one, std::uint64_t slices) const;
  void set_load(Sweep& one) const;

  SweepSizes given_;
  SweepPlan plan_;
  std::uint64_t busy_;  // bit b: iteration b does something
};

}  // namespace xorder::plan
