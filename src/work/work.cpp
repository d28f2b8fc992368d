#include "xorder/work/work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/memory.hpp"
#include "xorder/error.hpp"

namespace xorder::work {

std::uint64_t effective_memory(std::uint64_t asked) {
  constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
  constexpr std::uint64_t program = 40 * MiB;  // what may come on top
  std::uint64_t memory = asked != 0 ? asked : std::max(io::available_memory() / 2, minimum_memory);
  if (const auto limit = io::cgroup_memory_limit()) {
    memory = std::min(memory, std::max(*limit > program ? *limit - program : 0, minimum_memory));
  }
  if (memory < minimum_memory) {
    throw InputError(fmt::format("{} bytes of memory are too few: at least {} MiB are needed", memory,
                                 minimum_memory / MiB));
  }
  return memory;
}

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

}  // namespace xorder::work
