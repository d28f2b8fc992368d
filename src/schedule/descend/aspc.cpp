#include "schedule/descend/aspc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using std::uint64_t;

namespace {

// The link from logical i to i + 1 of 2^n.
int link_to_next(uint64_t i, int n) { return std::min(std::countr_one(modulo(i, n)), n - 1); }

uint64_t count(Aspc::Halves halves) { return halves == Aspc::Halves::both ? 2 : 1; }
uint64_t per_half(int n) { return static_cast<uint64_t>(std::min(n, 2)); }
uint64_t step_count(int n, Aspc::Halves halves, int first, int end) {
  if (end - first < n) return first == 0 ? 1 : 2;  // a single j
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

Aspc::Aspc(int dimension, Halves halves) : Aspc(Network::hypercube(dimension), halves, 0, dimension) {}

Aspc Aspc::alone(int dimension, Halves halves, int b) {
  if (b < 0 || b >= dimension)
    throw InputError(fmt::format("2^{} is no distance between 2^{} nodes", b, dimension));
  return {Network::hypercube(dimension), halves, b, b + 1};
}

// A single j has as many steps as links on its way.
Aspc::Aspc(const Network& hypercube, Halves halves, int first, int end)
    : Schedule(hypercube, count(halves) * static_cast<uint64_t>(end - first),
               step_count(hypercube.dimension(), halves, first, end),
               end - first < hypercube.dimension()
                   ? step_count(hypercube.dimension(), halves, first, end)
                   : aspc_bound(hypercube.dimension(), static_cast<int>(count(halves)))),
      halves_(halves),
      first_(first),
      end_(end) {}

std::vector<Aspc::Hop> Aspc::hops(uint64_t step) const {
  using enum AspcHalf;
  const int n = network().dimension();
  if (one_alone()) {
    std::vector<Hop> both;
    if (halves_ != Halves::minus) both.push_back({plus, first_, step == 1});
    if (halves_ != Halves::plus) both.push_back({minus, first_, step == 1});
    return both;
  }
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
      const auto slot = static_cast<uint64_t>(hop.j - first_ + (behind ? end_ - first_ : 0));
      out.push_back({{from, slot}, {to, slot}, to});
    }
  }
}

std::pair<AspcHalf, int> Aspc::sent_in(uint64_t slot) const {
  const auto width = static_cast<uint64_t>(end_ - first_);
  const bool minus = halves_ == Halves::minus || slot >= width;
  return {minus ? AspcHalf::minus : AspcHalf::plus, first_ + static_cast<int>(slot % width)};
}

std::optional<Place> Aspc::goal(Place start) const {
  const auto [half, j] = sent_in(start.slot);
  const uint64_t i = gray_inverse(start.node);
  const uint64_t to = half == AspcHalf::minus ? i - pow2(j) : i + pow2(j);
  return Place{gray(modulo(to, network().dimension())), start.slot};
}

Schedule::Load Aspc::load(uint64_t step) const {
  const uint64_t all = network().nodes() * hops(step).size();
  return {all, all};
}

}  // namespace xorder::schedule
