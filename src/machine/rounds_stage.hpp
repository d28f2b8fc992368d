// The rounds of a BMMC permutation (plan/rounds.hpp), from a file in which each processor's elements lie
// in the order of their chunks, to one in which they lie in the order of their places.
//
// For each batch of blocks the rounds run in the machine: their processors receive, all processors send chunks from
// their part of the file. What a chunk brings belongs all over the receiver's block, which is why that has to be in
// memory, and why it does not matter that the file is not.
#pragma once

#include "machine/stage.hpp"
#include "plan/rounds.hpp"

namespace xorder::machine {

class RoundsStage final : public Stage {
 public:
  explicit RoundsStage(plan::RoundsPlan plan) : plan_(std::move(plan)) {}

  std::vector<plan::PassSummary> passes() const override { return {plan_.pass()}; }
  std::string describe() const override { return plan_.describe(); }
  void move(work::Run& run, io::Location source, io::Location target, std::size_t pass) override;

 private:
  plan::RoundsPlan plan_;
};

}  // namespace xorder::machine
