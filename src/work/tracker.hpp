// How far a run of several passes has come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "xorder/work/work.hpp"

namespace xorder::work {

/// Each pass reads and writes all bytes once, perhaps in several parts. Used by the thread that called
/// Work::run().
class Tracker {
 public:
  Tracker(std::uint64_t bytes, std::size_t passes, ProgressCallback callback)
      : callback_(std::move(callback)) {
    state_.bytes_total = 2 * bytes * passes;
    state_.passes = passes;
  }

  /// The next part of the data begins, in this pass (from 1).
  void begin(std::uint64_t bytes, std::size_t pass) {
    before_ += part_;
    part_ = 2 * bytes;
    state_.pass = pass;
  }
  /// The bytes read and written so far of this part; supersets may make them more than there are.
  void show(std::uint64_t bytes) {
    state_.bytes_done = std::min(before_ + std::min(bytes, part_), state_.bytes_total);
    if (callback_) callback_(state_);
  }

 private:
  std::uint64_t before_ = 0;  // bytes of the parts that are over
  std::uint64_t part_ = 0;
  ProgressCallback callback_;
  Progress state_;
};

}  // namespace xorder::work
