// What a schedule is for: which words have to come to lie where, and how many steps that takes at least.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// What lies at `from` must come to lie at `to`.
struct Packet {
  Place from;
  Place to;
  bool operator==(const Packet&) const = default;
};

struct Task {
  std::vector<Packet> packets;
  /// No schedule for the task on its network has fewer steps.
  std::uint64_t lower_bound = 0;
};

/// Slot j of node i trades places with slot i of node j; on a mesh or a torus, slot 0 of node (i, j) with
/// slot 0 of node (j, i). Throws InputError for more than 2^24 packets.
Task transposition_task(const Network& network);
/// Slot j of node i is word i·P + j of P² words, which are bit-reversed. Throws InputError on a mesh or a
/// torus, and for more than 2^24 packets.
Task bit_reversal_task(const Network& network);
/// Any packets. The bound is the largest of three numbers: packets that leave a node per link, those that
/// reach a node per link, and links on shortest ways per link of the network (on a hypercube, of a
/// dimension). Throws InputError for a node that is not in the network.
Task any_task(std::vector<Packet> packets, const Network& network);

/// Where what starts in each place has to go.
class Goals {
 public:
  /// Throws InputError if a packet is not between places of `nodes` nodes with `slots` slots each, or if two
  /// have the same source or target. Takes 8 bytes per place.
  Goals(std::uint64_t nodes, std::uint64_t slots, std::span<const Packet> packets);

  /// Nothing if no packet starts there.
  std::optional<Place> of(const Place& start) const {
    if (start.slot >= slots_ || goals_[start.node * slots_ + start.slot] == 0) return {};
    const std::uint64_t number = goals_[start.node * slots_ + start.slot] - 1;
    return Place{number / slots_, number % slots_};
  }

 private:
  std::uint64_t slots_;
  std::vector<std::uint64_t> goals_;  // by place: the number of its goal + 1, or 0
};

}  // namespace xorder::schedule
