// The progress bar: how much is done, how fast, and the time left.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "xorder/work/work.hpp"

namespace xorder::cli {

/// Draws on standard error while it is alive, at most ten times per second, and removes the bar at the end.
class ProgressBar {
 public:
  /// Whether standard error is a terminal that can return to the beginning of a line.
  static bool possible();

  explicit ProgressBar(bool enabled) : enabled_(enabled) {}
  ~ProgressBar();
  void show(const work::Progress& progress);
  /// For progress not counted in bytes: the part that is done, from 0 to 1, and what comes now.
  void show(double part, std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;
  /// Whether it is time to draw again.
  bool due();
  /// A bar, filled in part, where there is room for one, and the text.
  void draw(double part, const std::string& text, int room);

  bool enabled_;
  int columns_ = 0;  // the width of what is drawn
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace xorder::cli
