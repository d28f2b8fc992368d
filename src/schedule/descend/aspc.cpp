#include "schedule/descend/aspc.hpp"

#include <algorithm>
#include <bit>

#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"

namespace xorder::schedule {

using std::uint64_t;

namespace {

// The link from logical i to i + 1 of 2^n.
int link_to_next(uint64_t i, int n) { return std::min(std::countr_one(modulo(i, n)), n - 1); }

uint64_t count(Aspc::Halves halves) { return halves == Aspc::Halves::both ? 2 : 1; }
uint64_t per_half(int n) { return static_cast<uint64_t>(std::min(n, 2)); }
uint64_t step_count(int n, Aspc::Halves halves) {
  return count(halves) * per_half(n) - (n == 2 && halves == Aspc::Halves::both ? 1 : 0);
}

}  // namespace

AspcWay aspc_way(AspcHalf half, Node i, int j, int n) {
  const bool plus = half == AspcHalf::plus;
  if (j == 0) return {link_to_next(plus ? i : i - 1, n), -1};
  const uint64_t run = pow2(j - 1), q = i / run * run;
  if (plus) return {link_to_next(q + 2 * run - 1, n), link_to_next(q + run - 1, n)};
  return {link_to_next(q - run - 1, n), link_to_next(q - 1, n)};
}

AspcHop aspc_hop(AspcHalf half, Node i, int j, int n, bool second_link) {
  const AspcWay way = aspc_way(half, i, j, n);
  const Node between = aspc_across(i, way.first);
  if (!second_link) return {gray(i), gray(between)};
  return {gray(between), gray(aspc_across(between, way.second))};
}

Aspc::Aspc(int dimension, Halves halves) : Aspc(Network::hypercube(dimension), halves) {}

Aspc::Aspc(const Network& hypercube, Halves halves)
    : Schedule(hypercube, count(halves) * static_cast<uint64_t>(hypercube.dimension()),
               step_count(hypercube.dimension(), halves),
               aspc_bound(hypercube.dimension(), static_cast<int>(count(halves)))),
      halves_(halves) {}

std::vector<Aspc::Hop> Aspc::hops(uint64_t step) const {
  using enum AspcHalf;
  const int n = network().dimension();
  // In the square the minus half begins in the plus half's second step, which leaves one link idle.
  if (n == 2 && halves_ == Halves::both) {
    const std::vector<Hop> square[] = {{{plus, 0, false}, {plus, 1, false}},
                                       {{plus, 1, true}, {minus, 1, false}},
                                       {{minus, 1, true}, {minus, 0, false}}};
    return square[step];
  }
  const AspcHalf half = halves_ == Halves::minus || step >= per_half(n) ? minus : plus;
  const bool second_link = step % per_half(n) == 1;
  std::vector<Hop> all;
  for (int j = second_link ? 1 : 0; j < n; ++j) all.push_back({half, j, second_link});  // slot 0 has arrived
  return all;
}

void Aspc::messages(uint64_t step, std::vector<Message>& out) const {
  const int n = network().dimension();
  const std::vector<Hop> all = hops(step);
  out.clear();
  for (Node i = 0; i < network().nodes(); ++i) {
    for (const Hop& hop : all) {
      const auto [from, to] = aspc_hop(hop.half, i, hop.j, n, hop.second_link);
      const bool behind = halves_ == Halves::both && hop.half == AspcHalf::minus;
      const auto slot = static_cast<uint64_t>(hop.j + (behind ? n : 0));
      out.push_back({{from, slot}, {to, slot}, to});
    }
  }
}

std::optional<Place> Aspc::goal(Place start) const {
  const int n = network().dimension();
  const bool minus = halves_ == Halves::minus || start.slot >= static_cast<uint64_t>(n);
  const uint64_t distance = pow2(static_cast<int>(start.slot % static_cast<uint64_t>(n)));
  const uint64_t i = gray_inverse(start.node);
  return Place{gray(modulo(minus ? i - distance : i + distance, n)), start.slot};
}

Schedule::Load Aspc::load(uint64_t step) const {
  const uint64_t all = network().nodes() * hops(step).size();
  return {all, all};
}

}  // namespace xorder::schedule
