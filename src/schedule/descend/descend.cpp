#include "schedule/descend/descend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <queue>

#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using std::size_t;
using std::uint64_t;

namespace {

int checked_lg_per_node(int lg_per_node) {
  if (lg_per_node < 0 || lg_per_node > 30) {
    throw InputError(
        fmt::format("2^{} elements per virtual processor: from 2^0 to 2^30 are possible", lg_per_node));
  }
  return lg_per_node;
}

// The class of a residue mod 2^b, as 2^b + residue.
using Class = std::uint32_t;
Class class_of(int b, uint64_t residue) { return static_cast<Class>(pow2(b) + residue); }
Descend::Local local_of(Class c) {
  const int b = std::bit_width(c) - 1;
  return {b, modulo(c, b)};
}

// By round (of descend): the class that does its local iteration, the ready one with the largest b, or 0.
std::vector<Class> local_rounds(int n, int v, uint64_t rounds) {
  std::vector<Class> result(rounds, 0);
  const auto later = [](Class a, Class b) { return std::bit_width(a) < std::bit_width(b); };
  std::priority_queue<Class, std::vector<Class>, decltype(later)> ready(later);
  std::vector<bool> done(2 * pow2(v));  // by class
  const auto finish = [&](Class c) {    // a single offset is a class mod 2^v
    done[c] = true;
    const auto [b, residue] = local_of(c);
    if (b == 0) return;
    const Class sibling = c ^ static_cast<Class>(pow2(b - 1));
    if (done[sibling]) ready.push(class_of(b - 1, modulo(residue, b - 1)));
  };
  uint64_t out_of_pipeline = 0;  // positions that have been through all inter-node iterations
  for (uint64_t r = 0; r < rounds; ++r) {
    while (out_of_pipeline < pow2(v) && out_of_pipeline + static_cast<uint64_t>(n) <= r) {
      finish(class_of(v, reversed(out_of_pipeline++, v)));
    }
    if (ready.empty()) continue;
    result[r] = ready.top();
    ready.pop();
    finish(result[r]);
  }
  return result;
}

uint64_t round_count(int n, int v, Descend::Part part) {
  if (part == Descend::Part::all) return static_cast<uint64_t>(n + v) + pow2(v) - 1;
  return n == 0 ? 0 : static_cast<uint64_t>(n) + pow2(v) - 1;
}

constexpr AspcHalf half_of(uint64_t step_of_round) {
  return step_of_round < 2 ? AspcHalf::plus : AspcHalf::minus;
}

}  // namespace

Descend::Descend(int dimension, int lg_per_node, Order order, Part part, const Reads& reads)
    : Descend(Network::hypercube(dimension), checked_lg_per_node(lg_per_node), order, part, reads) {}

Descend::Descend(const Network& hypercube, int lg_per_node, Order order, Part part, const Reads& reads)
    : Schedule(hypercube, slots_of(hypercube.dimension(), lg_per_node),
               steps_per_round * round_count(hypercube.dimension(), lg_per_node, part),
               descend_bound(hypercube.dimension(), lg_per_node, part == Part::all)),
      lg_per_node_(lg_per_node),
      order_(order),
      part_(part),
      reads_(reads) {
  if (part == Part::all) local_ = local_rounds(hypercube.dimension(), lg_per_node, rounds());
}

uint64_t Descend::slots_of(int dimension, int lg_per_node) {
  return pow2(lg_per_node) + 2 * static_cast<uint64_t>(dimension) + 2;
}

uint64_t Descend::memory_of(int dimension, int lg_per_node) {
  // Per round a class; while the schedule is made, also two bits and a ready class per offset.
  return round_count(dimension, lg_per_node, Part::all) * (2 * sizeof(Class) + 1);
}

uint64_t Descend::arrivals(AspcHalf half) const {
  return per_node() + (half == AspcHalf::plus ? 0 : static_cast<uint64_t>(network().dimension()));
}

uint64_t Descend::local_arrival(AspcHalf half) const {
  return per_node() + 2 * static_cast<uint64_t>(network().dimension()) + (half == AspcHalf::plus ? 0 : 1);
}

Descend::Round Descend::round(uint64_t number) const {
  const uint64_t r = order_ == Order::descend ? number : rounds() - 1 - number;
  const auto n = static_cast<uint64_t>(network().dimension());
  Round round;
  for (uint64_t t = 0; t < n && t <= r; ++t) {
    if (const uint64_t position = r - t; position < per_node()) {
      round.pipelined.push_back({static_cast<int>(n - 1 - t), reversed(position, lg_per_node_)});
    }
  }
  if (part_ == Part::all && local_[r] != 0) round.local = local_of(local_[r]);
  return round;
}

void Descend::messages(uint64_t step, std::vector<Message>& out) const {
  const int n = network().dimension();
  const AspcHalf half = half_of(step % steps_per_round);
  const bool second_link = step % 2 == 1;
  const Round now = round(step / steps_per_round);
  out.clear();
  for (Node i = 0; i < network().nodes(); ++i) {
    for (const Pipelined& p : now.pipelined) {
      if ((second_link && p.j == 0) || !reads(half, lg_per_node_ + p.j)) continue;
      const auto [from, to] = aspc_hop(half, i, p.j, n, second_link);
      const uint64_t slot = arrivals(half) + static_cast<uint64_t>(p.j);
      out.push_back({{from, second_link ? slot : p.offset}, {to, slot}, to});
    }
    // The class's last element is the first one's neighbour on the next node.
    if (now.local && second_link && n > 0 && reads(half, now.local->b)) {
      const auto [b, residue] = *now.local;
      const uint64_t offset = half == AspcHalf::plus ? per_node() - pow2(b) + residue : residue;
      const auto [from, to] = aspc_hop(half, i, 0, n, false);
      out.push_back({{from, offset}, {to, local_arrival(half)}, to});
    }
  }
}

void Descend::updates(uint64_t step, std::vector<Update>& out) const {
  out.clear();
  if (step % steps_per_round != steps_per_round - 1) return;
  const Round now = round(step / steps_per_round);
  const bool alone = network().dimension() == 0;  // a node that is its own neighbour
  const auto read = [&](AspcHalf half, int b, uint64_t slot, uint64_t self) {
    return reads(half, b) ? slot : self;
  };
  for (Node v = 0; v < network().nodes(); ++v) {
    for (const Pipelined& p : now.pipelined) {
      const auto j = static_cast<uint64_t>(p.j);
      const int b = lg_per_node_ + p.j;
      out.push_back({{v, p.offset},
                     {v, read(AspcHalf::minus, b, arrivals(AspcHalf::minus) + j, p.offset)},
                     {v, read(AspcHalf::plus, b, arrivals(AspcHalf::plus) + j, p.offset)},
                     b});
    }
    if (!now.local) continue;
    const auto [b, residue] = *now.local;
    const uint64_t last = per_node() - pow2(b) + residue;
    for (uint64_t e = residue; e < per_node(); e += pow2(b)) {
      const uint64_t after = e == last ? (alone ? residue : local_arrival(AspcHalf::minus)) : e + pow2(b);
      const uint64_t before = e == residue ? (alone ? last : local_arrival(AspcHalf::plus)) : e - pow2(b);
      out.push_back(
          {{v, e}, {v, read(AspcHalf::minus, b, after, e)}, {v, read(AspcHalf::plus, b, before, e)}, b});
    }
  }
}

std::optional<Place> Descend::goal(Place start) const {
  if (start.slot >= per_node()) return {};
  return start;
}

std::optional<Recurrence> Descend::recurrence() const {
  return Recurrence::all(network().dimension() + lg_per_node_, part_ == Part::all ? 0 : lg_per_node_,
                         order_ == Order::ascend, reads_);
}

// Between nodes, each offset is sent over two links, or one between neighbours. In a local iteration, each of
// the 2^b classes sends one element.
Schedule::Load Descend::total() const {
  const int n = network().dimension();
  if (n == 0) return {};
  uint64_t sent = 0;
  for (const AspcHalf half : {AspcHalf::plus, AspcHalf::minus}) {
    for (int b = part_ == Part::all ? 0 : lg_per_node_; b < n + lg_per_node_; ++b) {
      if (!reads(half, b)) continue;
      sent += b < lg_per_node_ ? pow2(b) : per_node() * (b == lg_per_node_ ? 1 : 2);
    }
  }
  return {sent * network().nodes(), sent * network().nodes()};
}

Schedule::Load Descend::load(uint64_t step) const {
  const Round now = round(step / steps_per_round);
  const AspcHalf half = half_of(step % steps_per_round);
  uint64_t sent = 0;
  for (const Pipelined& p : now.pipelined) {
    if (reads(half, lg_per_node_ + p.j)) sent += step % 2 == 0 || p.j > 0;
  }
  if (now.local && step % 2 == 1 && network().dimension() > 0 && reads(half, now.local->b)) ++sent;
  return {sent * network().nodes(), sent * network().nodes()};
}

}  // namespace xorder::schedule
