// Measuring in turn: every case once in each round, so that all of them see the same machine.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace xorder::cli {

/// What is measured at one point of a figure.
struct Case {
  std::string what;  ///< for the progress bar
  std::function<double()> measure;
  std::size_t figure = 0, series = 0;
  double x = 0;
};

struct Rounds {
  double seconds = 40;  ///< no round begins that would end later, but for so many:
  std::size_t at_least = 1;
  std::size_t most = 15;
  bool bar = true;
  std::stop_token stop{};
};

/// Measures, every other round backwards, so that what changes steadily touches all cases alike. Adds the
/// samples to the figures of `results`, whose series are there already, and says in its noise how it went.
/// Throws Cancelled.
void measure_in_turn(Results& results, const std::vector<Case>& cases, const Rounds& rounds);

}  // namespace xorder::cli
