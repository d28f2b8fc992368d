// Which packet a message carries. In schedules found by search, slots do not say.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::cli {

/// Where the word in a message was before the first step. For schedules that are small enough to be drawn.
class Origins {
 public:
  explicit Origins(const schedule::Schedule& schedule);
  schedule::Place of(std::uint64_t step, const schedule::Message& message) const;

 private:
  std::uint64_t slots_;
  std::vector<std::unordered_map<std::uint64_t, std::uint64_t>>
      origins_;  // by step, from the number of a sending place
};

}  // namespace xorder::cli
