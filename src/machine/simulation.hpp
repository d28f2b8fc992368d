// The time that a run of a schedule would take on a network (xorder/schedule/timing.hpp), from the messages
// that were really sent.
//
// The clocks do not belong to the processors: whose turn it is at a link is decided by the order of the
// schedule, not by which task came first. So when an epoch is closed (epochs.hpp), its messages and their
// sizes are given to the clocks in the order of the schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "schedule/clock.hpp"
#include "xorder/schedule/traffic.hpp"

namespace xorder::machine {

/// The traffic before the first run. Every run is added to it.
schedule::Traffic no_traffic(std::string schedule, std::uint64_t processors, std::uint64_t steps,
                             const std::optional<schedule::LinkTimes>& times);

/// Counts a message that carries `bytes`, unless it stays on its node or has no bytes, which means that it is
/// not sent.
void count(schedule::Traffic& traffic, const schedule::Network& network, const schedule::Message& message,
           std::uint64_t bytes);

class Simulation {
 public:
  Simulation(const schedule::Schedule& schedule, const schedule::LinkTimes& times);

  /// A run of the schedule begins.
  void restart();
  /// The next message of the step. If it has no bytes, it is not sent, and takes no time.
  void send(const schedule::Message& message, std::uint64_t bytes);
  /// The step's messages are complete, and these are the updates after them.
  void end_step(std::span<const schedule::Update> updates);
  /// What crossed the network in this run, and its times.
  schedule::Traffic traffic() const;

  /// A run without data, whose slots hold `sizes` bytes, node by node: what a message carries keeps its size.
  /// Throws Cancelled.
  schedule::Traffic run(const schedule::Schedule& schedule, std::vector<std::uint64_t> sizes,
                        const std::stop_token& stop);

 private:
  schedule::Network network_;
  schedule::Traffic traffic_;
  schedule::LinkTimes times_;
  schedule::Clock store_and_forward_, wormhole_;
  std::vector<schedule::Message> messages_;  // of the step
  std::vector<double> bytes_;
};

}  // namespace xorder::machine
