// Slots in memory for the machine of virtual processors, which show what a message costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "xorder/machine/machine.hpp"

namespace xorder::cli {

/// Every slot has as many bytes, which are copied into a message and out of it.
class Blocks : public machine::Program {
 public:
  /// Each slot begins with its number. Requires at least 8 bytes.
  Blocks(const schedule::Schedule& schedule, std::size_t bytes)
      : schedule_(&schedule), bytes_(bytes), data_(schedule.network().nodes() * schedule.slots() * bytes) {
    for (std::uint64_t i = 0; i < places(); ++i) std::memcpy(data_.data() + i * bytes_, &i, sizeof i);
  }
  std::uint64_t places() const { return data_.size() / bytes_; }

  void send(schedule::Place from, std::uint64_t, machine::Payload& payload) override {
    std::memcpy(payload.reset(bytes_), at(from), bytes_);
  }
  void receive(const schedule::Message& message, std::uint64_t, machine::Payload& payload) override {
    std::memcpy(at(message.to), payload.data(), bytes_);
  }
  /// Whether all that the schedule's task moves is at its goal after one run.
  bool arrived() {
    for (std::uint64_t i = 0; i < places(); ++i) {
      const auto goal = schedule_->goal({i / schedule_->slots(), i % schedule_->slots()});
      if (goal && std::memcmp(at(*goal), &i, sizeof i) != 0) return false;
    }
    return true;
  }

 private:
  std::byte* at(schedule::Place p) { return data_.data() + (p.node * schedule_->slots() + p.slot) * bytes_; }
  const schedule::Schedule* schedule_;
  std::size_t bytes_;
  std::vector<std::byte> data_;
};

}  // namespace xorder::cli
