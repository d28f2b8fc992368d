// A schedule for any task on a hypercube, found by search. Packets go from place to place on shortest ways,
// store and forward, with one message per directed link and step.
//
// A packet from node u to node v crosses each dimension of u ⊕ v once; the search chooses the order and the
// steps. It has two parts (src/schedule/routed/router.hpp):
//
//   greedy   Step by step, each node gives its links to as many waiting packets as it can. This is a maximum
//            matching that prefers packets that need the busiest dimensions.
//   repair   Aims at one step less, again and again. The packets that are late are taken out and put back
//            one by one, each on the cheapest way through links × steps. A packet in the way is taken out
//            in turn, and the contested link and step becomes dearer. It ends at the lower bound or when the
//            permitted work is done.
//
// So the result is never longer than the greedy schedule. It is deterministic: the same task and options
// always give the same schedule.
//
// Slots: 0 .. slots−1 of the task, then scratch slots, which hold packets on their way. A packet that arrives
// before its last place is free waits in a scratch slot. It moves, within its node, in the step in which
// the place's former packet leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "xorder/schedule/task.hpp"

namespace xorder::schedule {

struct RouteOptions {
  /// Work for repairing per link crossing of the task, in units of one look at a link. 0 means greedy only.
  std::uint64_t effort = 400;
  /// For the choices between equals.
  std::uint64_t seed = 1;
};

/// A lower bound of the task's steps. It is the largest of four: crossings of a dimension per node, links
/// between a packet's ends, packets that leave a node per link, and packets that reach a node per link.
std::uint64_t task_bound(std::span<const Packet> task, int dimension);
/// Links that the task's packets cross on shortest ways.
std::uint64_t task_crossings(std::span<const Packet> task);

class Routed final : public Schedule {
 public:
  /// Places of the task are slots 0 .. slots−1 of 2^dimension nodes. Throws InputError if a packet is not
  /// between such places, if two have the same source or target, if a packet that stays on its node changes
  /// its slot, or if the task is larger than max_crossings or max_places. A place that no packet starts from
  /// is empty.
  /// Memory: 16 bytes per crossing and 8 per place, and while it is made 12 · steps · links bytes.
  Routed(int dimension, std::uint64_t slots, std::span<const Packet> task, const RouteOptions& options = {});

  static constexpr std::uint64_t max_crossings = std::uint64_t{1} << 22;
  static constexpr std::uint64_t max_places = std::uint64_t{1} << 24;

  /// The steps of the greedy part alone.
  std::uint64_t greedy_steps() const { return greedy_steps_; }
  /// Slots beyond those of the task.
  std::uint64_t scratch_slots() const { return slots() - task_slots_; }

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

 private:
  struct Parts;
  static Parts make(int dimension, std::uint64_t slots, std::span<const Packet> task, const RouteOptions&);
  Routed(int dimension, Parts parts);

  struct Hop {
    std::uint32_t node = 0;
    std::uint32_t from_slot = 0;
    std::uint32_t to_slot = 0;
    std::int32_t dimension = 0;  // −1: within the node
  };

  std::uint64_t task_slots_;
  std::uint64_t greedy_steps_;
  std::vector<std::vector<Hop>> hops_;  // by step
  Goals goals_;
};

}  // namespace xorder::schedule
