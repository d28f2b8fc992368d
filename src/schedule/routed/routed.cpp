#include "xorder/schedule/routed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

#include "rounding.hpp"
#include "schedule/bits.hpp"
#include "schedule/routed/router.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

namespace {

void check_task(uint64_t nodes, uint64_t slots, std::span<const Packet> task) {
  if (slots > Routed::max_places / nodes) {
    throw InputError(
        fmt::format("{} virtual processors with {} slots each are too many to search: at most {} places",
                    nodes, slots, Routed::max_places));
  }
  for (const Packet& p : task) {
    if (p.from.node == p.to.node && p.from.slot != p.to.slot) {
      throw InputError(fmt::format("a packet stays on node {}, but goes from slot {} to slot {}", p.from.node,
                                   p.from.slot, p.to.slot));
    }
  }
  if (const uint64_t crossings = task_crossings(task); crossings > Routed::max_crossings) {
    throw InputError(fmt::format("a task of {} link crossings is too large to search: at most {}", crossings,
                                 Routed::max_crossings));
  }
}

}  // namespace

uint64_t task_crossings(std::span<const Packet> task) {
  uint64_t sum = 0;
  for (const Packet& p : task) sum += static_cast<uint64_t>(std::popcount(p.from.node ^ p.to.node));
  return sum;
}

uint64_t task_bound(std::span<const Packet> task, int dimension) {
  const uint64_t nodes = pow2(dimension);
  std::vector<uint64_t> columns(static_cast<size_t>(dimension), 0), leave(nodes, 0), arrive(nodes, 0);
  uint64_t bound = 0;
  for (const Packet& p : task) {
    const uint64_t tag = p.from.node ^ p.to.node;
    if (tag == 0) continue;
    bound = std::max(bound, static_cast<uint64_t>(std::popcount(tag)));
    for (uint64_t r = tag; r != 0; r &= r - 1) ++columns[static_cast<size_t>(std::countr_zero(r))];
    ++leave[p.from.node];
    ++arrive[p.to.node];
  }
  const auto links = static_cast<uint64_t>(std::max(dimension, 1));
  for (const uint64_t column : columns) bound = std::max(bound, ceil_div(column, nodes));
  for (const uint64_t count : leave) bound = std::max(bound, ceil_div(count, links));
  for (const uint64_t count : arrive) bound = std::max(bound, ceil_div(count, links));
  return bound;
}

struct Routed::Parts {
  uint64_t task_slots = 0, scratch_slots = 0, greedy_steps = 0, bound = 0;
  std::vector<std::vector<Hop>> hops;
  Goals goals;
};

namespace {

struct Crossing {
  uint32_t packet = 0;
  uint32_t node = 0;
  int dimension = 0;
  bool last = false;
};

std::vector<std::vector<Crossing>> by_step(std::span<const Trip> trips, const Timetable& timetable) {
  std::vector<std::vector<Crossing>> result(timetable.steps());
  std::vector<std::pair<uint32_t, int>> order;
  for (uint32_t p = 0; p < trips.size(); ++p) {
    order.clear();
    const auto times = timetable.of(p);
    for (uint32_t r = trips[p].tag; r != 0; r &= r - 1)
      order.emplace_back(times[order.size()], std::countr_zero(r));
    std::ranges::sort(order);
    uint32_t node = trips[p].from;
    for (const auto& [step, j] : order) {
      result[step].push_back({p, node, j, j == order.back().second});
      node ^= uint32_t{1} << j;
    }
  }
  return result;
}

// Hands out a node's scratch slots, the lowest free one first.
class Scratch {
 public:
  uint32_t take() {
    if (free_.empty()) return used_++;
    const uint32_t slot = free_.top();
    free_.pop();
    return slot;
  }
  void give_back(uint32_t slot) { free_.push(slot); }
  uint32_t used() const { return used_; }

 private:
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free_;
  uint32_t used_ = 0;
};

}  // namespace

Routed::Parts Routed::make(int dimension, uint64_t slots, std::span<const Packet> task,
                           const RouteOptions& options) {
  const uint64_t nodes = Network::hypercube(dimension).nodes();
  check_task(nodes, slots, task);
  Parts parts{.task_slots = slots, .hops = {}, .goals = Goals(nodes, slots, task)};
  parts.bound = task_bound(task, dimension);
  std::vector<Trip> trips;
  for (const Packet& p : task)
    trips.push_back({static_cast<uint32_t>(p.from.node), static_cast<uint32_t>(p.from.node ^ p.to.node)});
  Dice dice(options.seed);
  Timetable timetable = greedy_timetable(trips, dimension, dice);
  parts.greedy_steps = timetable.steps();
  const uint64_t work = options.effort * timetable.crossings();
  timetable = repaired(std::move(timetable), trips, dimension, parts.bound, work, dice);

  // Assigns slots. A step's departures make room for its arrivals, as all of its messages are read first.
  constexpr uint32_t nobody = ~uint32_t{0};
  std::vector<uint32_t> slot(task.size());               // of each packet
  std::vector<uint32_t> awaited(nodes * slots, nobody);  // by place: the packet that waits on its node for it
  std::vector<bool> occupied(nodes * slots, false);
  std::vector<Scratch> scratch(nodes);
  for (size_t p = 0; p < task.size(); ++p) {
    slot[p] = static_cast<uint32_t>(task[p].from.slot);
    occupied[task[p].from.node * slots + task[p].from.slot] = true;
  }
  const auto crossings = by_step(trips, timetable);
  parts.hops.resize(crossings.size());
  for (size_t step = 0; step < crossings.size(); ++step) {
    std::vector<Hop>& hops = parts.hops[step];
    for (const Crossing& c : crossings[step]) {
      hops.push_back({c.node, slot[c.packet], 0, c.dimension});
      if (slot[c.packet] >= slots) {
        scratch[c.node].give_back(slot[c.packet] - static_cast<uint32_t>(slots));
      } else {
        const uint64_t place = c.node * slots + slot[c.packet];
        occupied[place] = false;
        if (const uint32_t next = awaited[place]; next != nobody) {
          hops.push_back({c.node, slot[next], slot[c.packet], -1});
          scratch[c.node].give_back(slot[next] - static_cast<uint32_t>(slots));
        }
      }
    }
    size_t hop = 0;
    for (const Crossing& c : crossings[step]) {
      while (hops[hop].dimension < 0) ++hop;
      const uint32_t node = c.node ^ uint32_t { 1 } << c.dimension;
      const Place& goal = task[c.packet].to;
      const uint64_t place = goal.node * slots + goal.slot;
      if (c.last && !occupied[place]) {
        slot[c.packet] = static_cast<uint32_t>(goal.slot);
      } else {
        slot[c.packet] = static_cast<uint32_t>(slots) + scratch[node].take();
        if (c.last) awaited[place] = c.packet;
      }
      hops[hop++].to_slot = slot[c.packet];
    }
  }
  for (const Scratch& s : scratch) parts.scratch_slots = std::max<uint64_t>(parts.scratch_slots, s.used());
  return parts;
}

Routed::Routed(int dimension, uint64_t slots, std::span<const Packet> task, const RouteOptions& options)
    : Routed(dimension, make(dimension, slots, task, options)) {}

Routed::Routed(int dimension, Parts parts)
    : Schedule(Network::hypercube(dimension), parts.task_slots + parts.scratch_slots, parts.hops.size(),
               parts.bound),
      task_slots_(parts.task_slots),
      greedy_steps_(parts.greedy_steps),
      hops_(std::move(parts.hops)),
      goals_(std::move(parts.goals)) {}

void Routed::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  for (const Hop& hop : hops_[step]) {
    const Node to = hop.dimension < 0 ? hop.node : hop.node ^ pow2(hop.dimension);
    out.push_back({{hop.node, hop.from_slot}, {to, hop.to_slot}, to});
  }
}

std::optional<Place> Routed::goal(Place start) const { return goals_.of(start); }

Schedule::Load Routed::load(uint64_t step) const {
  const auto moving = static_cast<uint64_t>(
      std::ranges::count_if(hops_[step], [](const Hop& h) { return h.dimension >= 0; }));
  return {moving, moving};
}

}  // namespace xorder::schedule
