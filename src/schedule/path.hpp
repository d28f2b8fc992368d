// The path of a message through the network: straight from its sender to the node where it turns, and from
// there to its receiver.
#pragma once

#include <cstdint>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// Whether a message stays on its node. Then it uses no link and no port. One that goes to another node and
/// comes back does not stay.
inline bool stays(const Message& m) { return m.from.node == m.to.node && m.via == m.to.node; }

/// How many links it crosses; 0 if it stays.
inline std::uint64_t links(const Network& network, const Message& m) {
  return network.distance(m.from.node, m.via) + network.distance(m.via, m.to.node);
}

/// Calls body(from, to) for the two nodes of each link, in the order in which the message crosses them.
/// Requires a path as in schedule.hpp: two legs, each of them straight or, on a hypercube, a single link.
template <class Body>
void for_each_link(const Network& network, const Message& m, const Body& body) {
  Node at = m.from.node;
  for (const Node goal : {m.via, m.to.node}) {
    while (at != goal) {
      const Node next = network.next(at, goal);
      body(at, next);
      at = next;
    }
  }
}

}  // namespace xorder::schedule
