#include "schedule/descend/neighbours.hpp"

#include <algorithm>

#include "schedule/bits.hpp"

namespace xorder::schedule {

using std::uint64_t;

std::vector<Neighbours::Stage> Neighbours::stages_of(int dimension,
                                                     const std::vector<Recurrence::Iteration>& iterations,
                                                     int lg_run) {
  std::vector<Stage> stages;
  uint64_t steps = 0;
  for (const Recurrence::Iteration& one : iterations) {
    const int lg_elements = std::min(one.b, lg_run);
    const auto add = [&](bool next, bool before) {
      if (dimension == 0 || (!next && !before)) return;
      steps += pow2(one.b - lg_elements);
      stages.push_back({steps, lg_elements, next, before});
    };
    if (dimension == 1) {
      add(one.plus, false);
      add(false, one.minus);
    } else {
      add(one.plus, one.minus);
    }
  }
  return stages;
}

Neighbours::Neighbours(int dimension, const std::vector<Recurrence::Iteration>& iterations, int lg_run)
    : Neighbours(dimension, stages_of(dimension, iterations, lg_run), lg_run) {}

Neighbours::Neighbours(int dimension, std::vector<Stage> stages, int lg_run)
    : Schedule(Network::hypercube(dimension), static_cast<uint64_t>(lg_run) + 3,
               stages.empty() ? 0 : stages.back().end, stages.empty() ? 0 : stages.back().end),
      lg_run_(lg_run),
      stages_(std::move(stages)) {}

const Neighbours::Stage& Neighbours::stage(uint64_t step) const {
  return *std::ranges::upper_bound(stages_, step, {}, &Stage::end);
}

std::vector<uint64_t> Neighbours::place_bytes(uint64_t bytes) const {
  std::vector<uint64_t> sizes;
  for (Node v = 0; v < network().nodes(); ++v) {
    for (int k = 0; k <= lg_run_; ++k) sizes.push_back(bytes << k);
    sizes.insert(sizes.end(), 2, 0);
  }
  return sizes;
}

void Neighbours::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  const Stage& s = stage(step);
  const auto run = static_cast<uint64_t>(s.lg_elements), arrival = static_cast<uint64_t>(lg_run_) + 1;
  for (Node i = 0; i < network().nodes(); ++i) {
    const Node here = gray(i);
    const auto from = [&](uint64_t j, uint64_t slot) {
      out.push_back({{gray(modulo(j, network().dimension())), run}, {here, slot}, here});
    };
    if (s.next) from(i + 1, arrival);
    if (s.before) from(i - 1, arrival + 1);
  }
}

Schedule::Load Neighbours::load(uint64_t step) const {
  const Stage& s = stage(step);
  const uint64_t sent = network().nodes() * (uint64_t{s.next} + uint64_t{s.before});
  return {sent, sent};
}

}  // namespace xorder::schedule
