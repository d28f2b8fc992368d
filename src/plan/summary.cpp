#include "xorder/plan/summary.hpp"

#include <algorithm>

namespace xorder::plan {

std::uint64_t Summary::peak_memory() const {
  std::uint64_t most = 0;
  for (const PassSummary& pass : passes) most = std::max(most, pass.memory);
  return most;
}

double Summary::predicted_seconds() const {
  double sum = 0;
  for (const PassSummary& pass : passes) sum += pass.predicted_seconds;
  return sum;
}

}  // namespace xorder::plan
