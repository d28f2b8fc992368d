#include "schedule/descend/plus_minus.hpp"

#include <fmt/format.h>

#include <utility>

#include "schedule/bits.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using std::uint64_t;

namespace {

using Iteration = Recurrence::Iteration;

std::vector<Iteration> those_that_read(int n, const std::vector<Iteration>& all) {
  std::vector<Iteration> some;
  for (const Iteration& one : all) {
    if (one.b < 0 || one.b >= n)
      throw InputError(fmt::format("there is no iteration {} between 2^{} nodes", one.b, n));
    if (one.plus || one.minus) some.push_back(one);
  }
  return some;
}

std::vector<PlusMinus::Stage> stages_of(const std::vector<Iteration>& iterations) {
  std::vector<PlusMinus::Stage> stages;
  for (const Iteration& one : iterations) {
    for (const AspcHalf half : {AspcHalf::plus, AspcHalf::minus}) {
      if (half == AspcHalf::plus ? !one.minus : !one.plus)
        continue;  // i gets what is before it in the plus half
      stages.push_back({one, half, false});
      if (one.b > 0) stages.push_back({one, half, true});
    }
    stages.back().last = true;
  }
  return stages;
}

// A lower bound: after each update, the values for the next one cross as many links as they are away.
uint64_t way_of(const std::vector<Iteration>& iterations) {
  uint64_t links = 0;
  for (const Iteration& one : iterations) links += one.b == 0 ? 1 : 2;
  return links;
}

constexpr uint64_t arrival(AspcHalf half) { return half == AspcHalf::plus ? 1 : 2; }

}  // namespace

PlusMinus::PlusMinus(int dimension, std::vector<Iteration> iterations)
    : PlusMinus(Network::hypercube(dimension), those_that_read(dimension, iterations)) {}

PlusMinus::PlusMinus(const Network& hypercube, std::vector<Iteration> iterations)
    : Schedule(hypercube, slots_of_node, stages_of(iterations).size(), way_of(iterations)),
      iterations_(std::move(iterations)),
      stages_(stages_of(iterations_)) {}

void PlusMinus::messages(uint64_t step, std::vector<Message>& out) const {
  const Stage& now = stages_[step];
  out.clear();
  for (Node i = 0; i < network().nodes(); ++i) {
    const AspcHop hop = aspc_hop(now.half, i, now.iteration.b, network().dimension(), now.second_link);
    out.push_back({{hop.from, now.second_link ? arrival(now.half) : 0}, {hop.to, arrival(now.half)}, hop.to});
  }
}

void PlusMinus::updates(uint64_t step, std::vector<Update>& out) const {
  out.clear();
  const auto& [iteration, half, second_link, last] = stages_[step];
  if (!last) return;
  for (Node v = 0; v < network().nodes(); ++v) {
    out.push_back({{v, 0},
                   {v, iteration.plus ? arrival(AspcHalf::minus) : 0},
                   {v, iteration.minus ? arrival(AspcHalf::plus) : 0},
                   iteration.b});
  }
}

std::optional<Place> PlusMinus::goal(Place start) const {
  if (start.slot > 0) return {};
  return start;
}

std::optional<Recurrence> PlusMinus::recurrence() const {
  return Recurrence{network().dimension(), iterations_};
}

Schedule::Load PlusMinus::load(uint64_t) const { return {network().nodes(), network().nodes()}; }

}  // namespace xorder::schedule
