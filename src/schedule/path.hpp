// The path of a message through the network: straight legs from its sender over the nodes where it turns to
// its receiver.
#pragma once

#include <cstdint>
#include <utility>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// Whether a message stays on its node. Then it uses no link and no port. One that goes to another node and
/// comes back does not stay.
inline bool stays(const Message& m) { return m.from.node == m.to.node && m.via == m.to.node && !m.turns; }

/// Calls body(from, to) for the ends of each leg, in their order. A leg may be empty.
template <class Body>
void for_each_leg(const Message& m, const Body& body) {
  Node at = m.via;
  body(m.from.node, at);
  if (m.turns) {
    for (const Node next : *m.turns) body(std::exchange(at, next), next);
  }
  body(at, m.to.node);
}

/// The node at which its last leg begins that is not empty. Requires that it does not stay.
inline Node last_turn(const Message& m) {
  if (m.turns) return m.turns->back();
  return m.via != m.to.node ? m.via : m.from.node;
}

/// How many links it crosses; 0 if it stays.
inline std::uint64_t links(const Network& network, const Message& m) {
  std::uint64_t count = 0;
  for_each_leg(m, [&](Node from, Node to) { count += network.distance(from, to); });
  return count;
}

/// Calls body(from, to) for the two nodes of each link, in the order in which the message crosses them.
/// Requires a path as in schedule.hpp: legs that are straight or, on a hypercube, single links.
template <class Body>
void for_each_link(const Network& network, const Message& m, const Body& body) {
  for_each_leg(m, [&](Node at, Node goal) {
    while (at != goal) {
      const Node next = network.next(at, goal);
      body(at, next);
      at = next;
    }
  });
}

}  // namespace xorder::schedule
