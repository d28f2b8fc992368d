// The iterations of a ±2^b-descend or -ascend computation between nodes, one after the other. Each is ASPC
// (aspc.hpp) with one slot in use, the functions PM2I: what node i has goes to i + 2^j, i − 2^j, or both.
//
// There are 2^n logical nodes, i at the physical node G(i), with a value each, in slot 0. In an iteration the
// plus half brings the value at i − 2^j to slot 1 of i, and the minus half the value at i + 2^j to slot 2,
// over two links each (one for j = 0). Then the value is updated. If an iteration reads only one of them, the
// other half is left out; one that reads neither takes no step.
//
// Descend has as many messages and fewer steps, because n iterations are in progress at once. This schedule
// needs only 3 slots.
#pragma once

#include <vector>

#include "schedule/descend/aspc.hpp"

namespace xorder::schedule {

class PlusMinus final : public Schedule {
 public:
  /// `iterations` in their order, b being j. 0 ≤ n ≤ 20, 0 ≤ b < n (InputError otherwise).
  PlusMinus(int dimension, std::vector<Recurrence::Iteration> iterations);
  static constexpr std::uint64_t slots_of_node = 3;

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  void updates(std::uint64_t step, std::vector<Update>& out) const override;
  std::optional<Place> goal(Place start) const override;
  std::optional<Recurrence> recurrence() const override;
  Load load(std::uint64_t step) const override;

  /// What a step does.
  struct Stage {
    Recurrence::Iteration iteration;
    AspcHalf half = AspcHalf::plus;
    bool second_link = false;
    bool last = false;  ///< of the iteration
  };

 private:
  PlusMinus(const Network& hypercube, std::vector<Recurrence::Iteration> iterations);

  std::vector<Recurrence::Iteration> iterations_;  // those that read something
  std::vector<Stage> stages_;
};

}  // namespace xorder::schedule
