// Which packet a message carries: schedules that were found by search do not tell by their slots.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::cli {

/// Where what a message carries was before the first step. For schedules that are small enough to be drawn.
class Origins {
 public:
  explicit Origins(const schedule::Schedule& schedule);
  schedule::Place of(std::uint64_t step, const schedule::Message& message) const;

 private:
  std::uint64_t slots_;
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>> origins_;  // by step: from a place's number
};

}  // namespace xorder::cli
