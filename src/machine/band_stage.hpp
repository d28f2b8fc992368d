// The part of a banded transposition that stays within virtual processors (plan/bands/band_exchange.hpp).
// It puts what each of them will send in the order of the receivers. It is the first stage: it reads the
// run's inputs. A block lies in one matrix, so it lies in one input.
#pragma once

#include "machine/stage.hpp"
#include "plan/bands/band_exchange.hpp"

namespace xorder::machine {

class BandStage final : public Stage {
 public:
  explicit BandStage(const plan::BandExchangePlan& plan)
      : geometry_(plan.geometry), pass_(plan.within), description_(plan.describe()) {}

  std::vector<plan::PassSummary> passes() const override { return {pass_}; }
  std::string describe() const override { return description_; }
  std::string steps() const override { return description_; }  // blocks
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override;

 private:
  std::shared_ptr<const plan::BandGeometry> geometry_;
  plan::PassSummary pass_;
  std::string description_;
};

}  // namespace xorder::machine
