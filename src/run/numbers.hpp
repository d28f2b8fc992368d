// The numbers of things that can be taken and given back. What was given back last is taken first, so that as
// little as possible is touched: fresh memory takes time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xorder::run {

/// The numbers below `count` that are free.
class Numbers {
 public:
  explicit Numbers(std::uint64_t count) {
    free_.reserve(count);
    for (std::uint64_t i = count; i-- > 0;) free_.push_back(i);
  }
  std::size_t available() const { return free_.size(); }
  std::size_t take() {
    const std::size_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void give_back(std::size_t number) { free_.push_back(number); }

 private:
  std::vector<std::size_t> free_;
};

}  // namespace xorder::run
