// A schedule run out of core in stripes (plan/processors/stripes.hpp).
#pragma once

#include "machine/stage.hpp"
#include "plan/processors/stripes.hpp"

namespace xorder::machine {

class StripeStage final : public Stage {
 public:
  StripeStage(plan::StripePlan plan, std::optional<schedule::LinkTimes> link_times)
      : plan_(std::move(plan)), link_times_(link_times) {}

  std::vector<plan::PassSummary> passes() const override { return {plan_.pass}; }
  std::string describe() const override { return plan_.describe(); }
  std::optional<schedule::Traffic> forecast(const std::stop_token& stop) const override;
  std::string steps() const override;
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override;

 private:
  plan::StripePlan plan_;
  std::optional<schedule::LinkTimes> link_times_;
};

}  // namespace xorder::machine
