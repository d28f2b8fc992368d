// The progress bar: how much is done, how fast, how long it will take.
#pragma once

#include <chrono>

#include "xorder/work/work.hpp"

namespace xorder::cli {

/// Draws on standard error while it is alive, at most ten times a second, and removes the bar at the end.
class ProgressBar {
 public:
  /// Whether standard error is a terminal that can return to the beginning of a line.
  static bool possible();

  explicit ProgressBar(bool enabled) : enabled_(enabled) {}
  ~ProgressBar();
  void show(const work::Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  int columns_ = 0;  // of what is drawn
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace xorder::cli
