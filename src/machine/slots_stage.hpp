// A schedule that moves the slots of a file as they lie there (plan/processors/slots.hpp).
#pragma once

#include <algorithm>

#include "machine/stage.hpp"
#include "plan/processors/slots.hpp"

namespace xorder::machine {

class SlotsStage final : public Stage {
 public:
  SlotsStage(plan::SlotPlan plan, std::optional<schedule::LinkTimes> link_times)
      : plan_(std::move(plan)), link_times_(link_times) {}

  std::vector<plan::PassSummary> passes() const override { return {plan_.pass}; }
  std::string describe() const override;
  std::optional<schedule::Traffic> forecast(const std::stop_token& stop) const override;
  std::string steps() const override;
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override;

 private:
  schedule::Traffic no_traffic() const;
  /// The bytes of each slot in the stripe that begins at byte `first` of it.
  std::uint64_t width(std::uint64_t first) const {
    return std::min(plan_.stripe_bytes, plan_.slot_bytes - first);
  }

  plan::SlotPlan plan_;
  std::optional<schedule::LinkTimes> link_times_;
};

}  // namespace xorder::machine
