// What crosses the network of a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "xorder/schedule/timing.hpp"

namespace xorder::schedule {

/// How long runs of a schedule take on a network, one after the other.
struct NetworkTime {
  LinkTimes times;
  std::uint64_t runs = 0;
  Duration store_and_forward{}, wormhole{};

  bool operator==(const NetworkTime&) const = default;
};

/// What a schedule sends.
struct Traffic {
  std::string schedule;
  std::uint64_t processors = 0;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;         ///< between different processors
  std::uint64_t crossings = 0;        ///< uses of links
  std::uint64_t bytes_moved = 0;      ///< of those messages
  std::optional<NetworkTime> time{};  ///< if it is simulated

  /// Adds what another run of the same schedule has sent. Steps are counted once.
  Traffic& operator+=(const Traffic& run) {
    messages += run.messages;
    crossings += run.crossings;
    bytes_moved += run.bytes_moved;
    if (time && run.time) {
      time->runs += run.time->runs;
      time->store_and_forward += run.time->store_and_forward;
      time->wormhole += run.time->wormhole;
    }
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};

/// Something that runs a schedule, and says what that sends.
class Sender {
 public:
  virtual ~Sender() = default;
  /// What a run will send, as traffic() will say after it, if that is known or can be simulated. Throws
  /// Cancelled.
  virtual std::optional<Traffic> forecast(const std::stop_token& /*stop*/ = {}) const { return std::nullopt; }
  /// What the last run has sent, if it has.
  const std::optional<Traffic>& traffic() const { return sent_; }

 protected:
  std::optional<Traffic> sent_{};
};

}  // namespace xorder::schedule
