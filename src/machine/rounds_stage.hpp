// The rounds of a BMMC permutation (plan/processors/rounds.hpp), from a file in which each processor's
// elements lie in the order of their chunks, to one in which they lie in the order of their places.
//
// For each batch of blocks the rounds run in the machine: the processors of the batch receive, and all
// processors send chunks from their part of the file. A chunk's elements belong all over the receiver's
// block, so the block has to be in memory; the senders' file need not.
#pragma once

#include <memory>
#include <vector>

#include "machine/stage.hpp"
#include "plan/processors/rounds.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {

class RoundsStage final : public Stage {
 public:
  RoundsStage(std::shared_ptr<const plan::RoundsOnFiles> plan, std::optional<schedule::LinkTimes> link_times)
      : plan_(std::move(plan)), link_times_(link_times) {}

  std::vector<plan::PassSummary> passes() const override { return {plan_->pass()}; }
  std::string describe() const override { return plan_->describe(); }
  std::optional<schedule::Traffic> forecast(const std::stop_token& stop) const override;
  std::string steps() const override;
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override;

 private:
  std::shared_ptr<const plan::RoundsOnFiles> plan_;
  std::optional<schedule::LinkTimes> link_times_;
};

/// The stages from file to file: the permutation within processors by tiles, the rounds and, with a layout,
/// the permutation back to it by tiles. Those that are the identity are left out.
std::vector<std::unique_ptr<Stage>> rounds_stages(const work::Frame& frame,
                                                  std::shared_ptr<const plan::RoundsOnFiles> plan,
                                                  const std::optional<schedule::LinkTimes>& link_times);

/// Puts the chunk that came in a round where it belongs in its receiver's block.
void place_chunk(const plan::RoundsOnFiles& plan, const schedule::Message& message, std::uint64_t round,
                 const Payload& payload, std::byte* block);

}  // namespace xorder::machine
