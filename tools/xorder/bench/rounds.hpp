// Measures all cases in turn, once in each round, so that all of them see the same machine.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace xorder::cli {

/// What to measure for one point of a figure.
struct Case {
  std::string what;  ///< for the progress bar
  std::function<double()> measure;
  std::size_t figure = 0;
  std::string series;
  double x = 0;
};

struct Rounds {
  double seconds = 40;  ///< no round begins that would end later, except for the first ones:
  std::size_t at_least = 1;
  std::size_t most = 15;
  bool bar = true;
  std::stop_token stop{};
};

/// Measures, with every other round backwards, so that steady changes affect all cases alike. Adds the
/// samples to the figures of `results` and sets its noise. Does nothing if there are no cases. Throws
/// Cancelled.
void measure_in_turn(Results& results, const std::vector<Case>& cases, const Rounds& rounds);

}  // namespace xorder::cli
