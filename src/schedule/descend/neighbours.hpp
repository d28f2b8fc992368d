// What the iterations within blocks of a ±2^b-descend or -ascend computation need of the blocks beside them.
//
// Block i of V = 2^v elements lies on the node G(i) of a hypercube, G the reflected Gray code, so blocks i
// and i ± 1 are one link apart. Iteration b < v needs the first 2^b elements of the next block, the last 2^b
// of the one before, or both, as in the local iterations of descend.hpp. They go in runs of at most 2^r
// elements, a run in each direction in each step. The directions take different links, unless there are only
// two nodes: then one follows the other.
//
// The whole blocks need not be slots to know what is sent: slot k ≤ r stands for a run of 2^k elements, and
// slots r + 1 and r + 2 for what comes from the next block and from the one before.
#pragma once

#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

class Neighbours final : public Schedule {
 public:
  /// 0 ≤ n ≤ 20 (InputError otherwise), 0 ≤ lg_run. With n = 0 nothing is sent.
  Neighbours(int dimension, const std::vector<Recurrence::Iteration>& iterations, int lg_run);

  int lg_run() const { return lg_run_; }
  /// Steps that differ in more than the run.
  std::uint64_t stages() const { return stages_.size(); }
  /// The bytes in each place, for elements of `bytes` bytes.
  std::vector<std::uint64_t> place_bytes(std::uint64_t bytes) const;

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place) const override { return {}; }
  Load load(std::uint64_t step) const override;

 private:
  struct Stage {
    std::uint64_t end = 0;  // the number of steps up to here
    int lg_elements = 0;    // of a run
    bool next = false, before = false;
  };
  static std::vector<Stage> stages_of(int dimension, const std::vector<Recurrence::Iteration>& iterations,
                                      int lg_run);
  Neighbours(int dimension, std::vector<Stage> stages, int lg_run);
  const Stage& stage(std::uint64_t step) const;

  int lg_run_;
  std::vector<Stage> stages_;
};

}  // namespace xorder::schedule
