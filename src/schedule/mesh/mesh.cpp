#include "schedule/mesh/mesh.hpp"

#include <fmt/format.h>

#include <bit>

#include "schedule/bounds.hpp"
#include "schedule/mesh/mesh_trades.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

std::vector<Mesh::Step> trades_of(uint64_t side, Mesh::Routing routing) {
  switch (routing) {
    case Mesh::Routing::recursive:
      return {};
    case Mesh::Routing::two_phase:
      return trades_in_two_phases(side);
    case Mesh::Routing::xy:
      return trades_of_xy(side);
    case Mesh::Routing::any:
      break;
  }
  return trades_at_bound(side);
}

uint64_t step_count(uint64_t side, const std::vector<Mesh::Step>& trades, Mesh::Routing routing) {
  if (routing == Mesh::Routing::recursive) {
    if ((side & (side - 1)) != 0) {
      throw InputError(
          fmt::format("the recursive exchange is for meshes whose side is a power of two, not for {0} × {0}; "
                      "routing any takes any side",
                      side));
    }
    return side == 0 ? 0 : side - 1;
  }
  // With XY routing, the second legs of those that go up in the last step need one more.
  const bool one_more = routing == Mesh::Routing::xy && !trades.empty() && !trades.back().up.empty();
  return trades.size() + (one_more ? 1 : 0);
}

// Slots of a diagonal's node for what comes from below and from above it, and of any other for a block that
// comes before its own has left.
constexpr uint64_t from_below = 1, from_above = 2, early = 1;

}  // namespace

Mesh::Mesh(uint64_t side, Routing routing)
    : Mesh(Network::mesh(side), routing, trades_of(Network::mesh(side).side(), routing)) {}

Mesh::Mesh(const Network& mesh, Routing routing, std::vector<Step> trades)
    : Schedule(mesh, routing == Routing::xy ? 3 : 1, step_count(mesh.side(), trades, routing),
               mesh_bound(mesh.side())),
      routing_(routing),
      trades_(std::move(trades)) {
  if (routing != Routing::xy) return;
  leaves_.resize(mesh.nodes());
  for (uint64_t step = 0; step < trades_.size(); ++step) {
    for (const bool up : {true, false}) {
      for (const Node v : up ? trades_[step].up : trades_[step].right) {
        leaves_[v] = leaves_[turned(v)] = {step, step + (up ? 1 : 0)};
      }
    }
  }
}

Node Mesh::partner(Node node) const {
  const uint64_t side = network().side();
  return node % side * side + node / side;
}

// Where the way of node (i, j) turns: at (j, j) if it goes up, at (i, i) otherwise.
Node Mesh::corner(Node node, bool up) const {
  const uint64_t side = network().side();
  return (up ? node % side : node / side) * (side + 1);
}

void Mesh::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  if (routing_ == Routing::recursive) return exchange(step, out);
  if (routing_ != Routing::xy) return trade(trades_[step], out);
  if (step < trades_.size()) begin(trades_[step], out);
  if (step > 0) finish(trades_[step - 1], out);
}

void Mesh::trade(const Step& step, std::vector<Message>& out) const {
  for (const bool up : {true, false}) {
    for (const Node v : up ? step.up : step.right) {
      out.push_back({{v, 0}, {partner(v), 0}, corner(v, up)});
      out.push_back({{partner(v), 0}, {v, 0}, corner(v, up)});
    }
  }
}

// What goes right goes along its row first. What goes up stops at the diagonal. And the same on the mesh
// turned by half a turn, where rows stay rows: what comes from above the diagonal goes the ways of what comes
// from below it. A block that has come before its node's own has left takes its place now.
void Mesh::begin(const Step& step, std::vector<Message>& out) const {
  const auto leave = [&](Node from, Place to, Node via) {
    out.push_back({{from, 0}, to, via});
    if (arrives_early(from)) out.push_back({{from, early}, {from, 0}, from});
  };
  for (const Node v : step.up) {
    const Node at = corner(v, true);
    leave(v, {at, from_below}, at);
    leave(turned(v), {turned(at), from_above}, turned(at));
  }
  for (const Node v : step.right) {
    leave(v, arrival(v), corner(v, false));
    leave(turned(v), arrival(turned(v)), turned(corner(v, false)));
  }
}

void Mesh::finish(const Step& step, std::vector<Message>& out) const {
  for (const Node v : step.up) {
    const Node at = corner(v, true);
    out.push_back({{at, from_below}, arrival(v), partner(v)});
    out.push_back({{turned(at), from_above}, arrival(turned(v)), partner(turned(v))});
  }
}

bool Mesh::arrives_early(Node node) const { return leaves_[partner(node)].arrival < leaves_[node].step; }

Place Mesh::arrival(Node from) const {
  const Node to = partner(from);
  return {to, arrives_early(to) ? early : 0};
}

// The steps that are left, N − 1 − step, are those of the smaller quarters, h − 1, and h or fewer of this h.
void Mesh::exchange(uint64_t step, std::vector<Message>& out) const {
  const uint64_t side = network().side();
  const uint64_t h = std::bit_ceil(side - step) / 2, t = step - (side - 2 * h);
  for (uint64_t i = 0; i < side; ++i) {
    if ((i & h) != 0) continue;  // the partners' rows
    for (uint64_t j = (i + t) % h; j < side; j += 2 * h) {
      const Node left = i * side + j, right = left + h, below = h * side;
      out.push_back({{right, 0}, {left + below, 0}, left});
      out.push_back({{left + below, 0}, {right, 0}, right + below});
    }
  }
}

std::optional<Place> Mesh::goal(Place start) const {
  if (start.slot != 0) return {};
  return Place{partner(start.node), 0};
}

}  // namespace xorder::schedule
