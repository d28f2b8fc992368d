#include "xorder/schedule/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "rounding.hpp"
#include "schedule/bounds.hpp"
#include "schedule/exchange.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

// Every node has a word for each node. A crossbar takes them one after the other.
Task exchange_task(const Network& network, Exchange::Kind kind) {
  const uint64_t nodes = network.nodes();
  if (nodes > max_checked_places / nodes)
    throw InputError(
        fmt::format("a word for each pair of {} nodes: at most {} words", nodes, max_checked_places));
  const Exchange exchange(network.dimension(), kind);
  Task task{{}, network.kind() == Network::Kind::crossbar ? nodes - 1 : exchange.lower_bound()};
  for (Node v = 0; v < nodes; ++v) {
    for (uint64_t slot = 0; slot < nodes; ++slot)
      task.packets.push_back({{v, slot}, exchange.goal({v, slot}).value()});
  }
  return task;
}

// The links into a node, as many as out of it.
uint64_t links_of(const Network& network, Node node) {
  switch (network.kind()) {
    case Network::Kind::crossbar:
      return 1;
    case Network::Kind::hypercube:
      return static_cast<uint64_t>(network.dimension());
    case Network::Kind::mesh: {
      const uint64_t side = network.side(), last = side - 1;
      const auto in_line = [last](uint64_t at) { return uint64_t{at > 0} + uint64_t{at < last}; };
      return in_line(node / side) + in_line(node % side);
    }
    case Network::Kind::torus:
      return 2 * std::min<uint64_t>(network.side() - 1, 2);
  }
  return 0;
}

}  // namespace

Task transposition_task(const Network& network) {
  if (!network.has_rows()) return exchange_task(network, Exchange::Kind::transposition);
  const uint64_t side = network.side();
  Task task{{}, network.kind() == Network::Kind::mesh ? mesh_bound(side) : torus_bound(side)};
  for (Node v = 0; v < network.nodes(); ++v)
    task.packets.push_back({{v, 0}, {v % side * side + v / side, 0}});
  return task;
}

Task bit_reversal_task(const Network& network) {
  if (!network.has_rows()) return exchange_task(network, Exchange::Kind::bit_reversal);
  throw InputError("bit reversal is a task for a hypercube or a crossbar, not for nodes in rows and columns");
}

Task any_task(std::vector<Packet> packets, const Network& network) {
  const uint64_t nodes = network.nodes();
  std::vector<uint64_t> leave(nodes, 0), arrive(nodes, 0),
      crossed(static_cast<std::size_t>(std::max(network.dimension(), 1)), 0);
  for (const Packet& p : packets) {
    for (const Node node : {p.from.node, p.to.node}) {
      if (node >= nodes)
        throw InputError(fmt::format("a packet at node {}: the network has {} nodes", node, nodes));
    }
    if (p.from.node == p.to.node) continue;
    ++leave[p.from.node];
    ++arrive[p.to.node];
    if (network.kind() != Network::Kind::hypercube) {
      crossed[0] += network.distance(p.from.node, p.to.node);
      continue;
    }
    for (uint64_t r = p.from.node ^ p.to.node; r != 0; r &= r - 1)
      ++crossed[static_cast<std::size_t>(std::countr_zero(r))];
  }
  const uint64_t links = network.kind() == Network::Kind::hypercube ? nodes : network.links();
  Task task{std::move(packets), 0};
  for (const uint64_t count : crossed)
    if (count != 0) task.lower_bound = std::max(task.lower_bound, ceil_div(count, links));
  for (Node v = 0; v < nodes; ++v) {
    if (const uint64_t count = std::max(leave[v], arrive[v]); count != 0)
      task.lower_bound = std::max(task.lower_bound, ceil_div(count, links_of(network, v)));
  }
  return task;
}

Goals::Goals(uint64_t nodes, uint64_t slots, std::span<const Packet> packets)
    : slots_(slots), goals_(nodes * slots, 0) {
  std::vector<bool> ends(nodes * slots, false);
  for (const Packet& p : packets) {
    const auto number = [&](const Place& place) {
      if (place.node >= nodes || place.slot >= slots) {
        throw InputError(fmt::format("a packet at slot {} of node {}: there are {} slots and {} nodes",
                                     place.slot, place.node, slots, nodes));
      }
      return place.node * slots + place.slot;
    };
    const uint64_t from = number(p.from), to = number(p.to);
    if (goals_[from] != 0 || ends[to]) {
      const auto& [what, place] =
          goals_[from] != 0 ? std::pair("start from", p.from) : std::pair("go to", p.to);
      throw InputError(fmt::format("two packets {} slot {} of node {}", what, place.slot, place.node));
    }
    goals_[from] = to + 1;
    ends[to] = true;
  }
}

}  // namespace xorder::schedule
