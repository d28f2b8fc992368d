#include "xorder/schedule/mesh.hpp"

#include <fmt/format.h>

#include <bit>

#include "schedule/bounds.hpp"
#include "schedule/mesh/mesh_trades.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

std::vector<Mesh::Step> trades_of(uint64_t side, Mesh::Routing routing) {
  if (routing == Mesh::Routing::recursive) return {};
  return routing == Mesh::Routing::two_phase ? trades_in_two_phases(side) : trades_at_bound(side);
}

uint64_t step_count(uint64_t side, uint64_t trades, Mesh::Routing routing) {
  if (routing == Mesh::Routing::recursive) {
    if ((side & (side - 1)) != 0) {
      throw InputError(
          fmt::format("the recursive exchange is for meshes whose side is a power of two, not for {0} × {0}; "
                      "routing any takes any side",
                      side));
    }
    return side == 0 ? 0 : side - 1;
  }
  // With XY routing, the second legs of the last trades need one more step.
  return routing == Mesh::Routing::xy && trades > 0 ? trades + 1 : trades;
}

// Slots of a diagonal's node for what comes from below and from above it.
constexpr uint64_t from_below = 1, from_above = 2;

}  // namespace

Mesh::Mesh(uint64_t side, Routing routing)
    : Mesh(Network::mesh(side), routing, trades_of(Network::mesh(side).side(), routing)) {}

Mesh::Mesh(const Network& mesh, Routing routing, std::vector<Step> trades)
    : Schedule(mesh, routing == Routing::xy ? 3 : 1, step_count(mesh.side(), trades.size(), routing),
               mesh_bound(mesh.side())),
      routing_(routing),
      trades_(std::move(trades)) {}

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

// Of two partners, one goes along its row first and may turn. The other stops at the diagonal.
void Mesh::begin(const Step& step, std::vector<Message>& out) const {
  for (const Node v : step.up) {
    out.push_back({{v, 0}, {corner(v, true), from_below}, corner(v, true)});
    out.push_back({{partner(v), 0}, {v, 0}, corner(v, true)});
  }
  for (const Node v : step.right) {
    out.push_back({{v, 0}, {partner(v), 0}, corner(v, false)});
    out.push_back({{partner(v), 0}, {corner(v, false), from_above}, corner(v, false)});
  }
}

void Mesh::finish(const Step& step, std::vector<Message>& out) const {
  for (const Node v : step.up) out.push_back({{corner(v, true), from_below}, {partner(v), 0}, partner(v)});
  for (const Node v : step.right) out.push_back({{corner(v, false), from_above}, {v, 0}, v});
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
