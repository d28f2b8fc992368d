// How far a run of several passes has come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "xorder/run/work.hpp"

namespace xorder::run {

/// Each pass reads and writes all bytes once. Used by the thread that called Work::run().
class Tracker {
 public:
  Tracker(std::uint64_t bytes, std::size_t passes, ProgressCallback callback)
      : pass_bytes_(2 * bytes), callback_(std::move(callback)) {
    state_ = {0, pass_bytes_ * passes, 0, passes};
  }

  void begin_pass() {
    state_.bytes_done = pass_bytes_ * state_.pass;
    ++state_.pass;
  }
  /// The bytes read and written so far in this pass; supersets may make them more than there are.
  void show(std::uint64_t bytes) {
    state_.bytes_done = pass_bytes_ * (state_.pass - 1) + std::min(bytes, pass_bytes_);
    if (callback_) callback_(state_);
  }

 private:
  std::uint64_t pass_bytes_;
  ProgressCallback callback_;
  Progress state_;
};

}  // namespace xorder::run
