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
               count(halves) * per_half(hypercube.dimension()),
               aspc_bound(hypercube.dimension(), static_cast<int>(count(halves)))),
      halves_(halves) {}

uint64_t Aspc::steps_per_half() const { return per_half(network().dimension()); }

std::pair<AspcHalf, uint64_t> Aspc::half_of(uint64_t step) const {
  const bool second = step >= steps_per_half();
  const bool minus = second || halves_ == Halves::minus;
  return {minus ? AspcHalf::minus : AspcHalf::plus, second ? slots() / 2 : 0};
}

void Aspc::messages(uint64_t step, std::vector<Message>& out) const {
  const int n = network().dimension();
  const auto [half, first_slot] = half_of(step);
  const bool second_link = step % steps_per_half() == 1;
  out.clear();
  for (Node i = 0; i < network().nodes(); ++i) {
    for (int j = second_link ? 1 : 0; j < n; ++j) {
      const auto [from, to] = aspc_hop(half, i, j, n, second_link);
      const uint64_t slot = first_slot + static_cast<uint64_t>(j);
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
  const uint64_t idle = step % steps_per_half() == 1 ? 1 : 0;  // slot 0 has arrived
  const uint64_t all = network().nodes() * (static_cast<uint64_t>(network().dimension()) - idle);
  return {all, all};
}

}  // namespace xorder::schedule
