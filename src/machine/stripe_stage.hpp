// A schedule run out of core in stripes (plan/processors/stripes.hpp).
#pragma once

#include "machine/stage.hpp"
#include "plan/processors/stripes.hpp"

namespace xorder::machine {

class StripeStage final : public Stage {
 public:
  explicit StripeStage(plan::StripePlan plan) : plan_(std::move(plan)) {}

  std::vector<plan::PassSummary> passes() const override { return {plan_.pass}; }
  std::string describe() const override { return plan_.describe(); }
  std::optional<work::Traffic> forecast(const schedule::LinkTimes& times,
                                        const std::stop_token& stop) const override;
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override;

 private:
  plan::StripePlan plan_;
};

}  // namespace xorder::machine
