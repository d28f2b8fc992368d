#include "xorder/schedule/mesh.hpp"

#include <algorithm>
#include <numeric>

#include "xorder/schedule/bounds.hpp"

namespace xorder::schedule {
namespace {

using std::size_t;
using std::uint64_t;

// Which columns each row sends up, by row.
std::vector<std::vector<uint64_t>> columns_up(uint64_t side, uint64_t steps) {
  std::vector<std::vector<uint64_t>> up(side);
  std::vector<uint64_t> room(side, steps);  // by column
  for (uint64_t i = steps + 1; i < side; ++i) {
    std::vector<uint64_t>& columns = up[i];
    columns.resize(i);
    std::iota(columns.begin(), columns.end(), uint64_t{0});
    std::ranges::stable_sort(columns, std::ranges::greater{}, [&](uint64_t j) { return room[j]; });
    columns.resize(i - steps);
    for (const uint64_t j : columns) --room[j];
  }
  return up;
}

// Each resource carries its messages in any order, one a step.
std::vector<Mesh::Step> trades(uint64_t side) {
  const uint64_t steps = mesh_bound(side);
  std::vector<Mesh::Step> result(static_cast<size_t>(steps));
  const auto up = columns_up(side, steps);
  std::vector<size_t> next(side, 0);  // step of U_j
  for (uint64_t i = 0; i < side; ++i) {
    std::vector<bool> goes_up(i, false);
    for (const uint64_t j : up[i]) goes_up[j] = true;
    size_t right = 0;  // step of R_i
    for (uint64_t j = 0; j < i; ++j) {
      if (goes_up[j]) {
        result.at(next[j]++).up.push_back(i * side + j);
      } else {
        result.at(right++).right.push_back(i * side + j);
      }
    }
  }
  return result;
}

// The second legs of the last step need one more.
uint64_t step_count(uint64_t side, Mesh::Routing routing) {
  const uint64_t steps = mesh_bound(side);
  return routing == Mesh::Routing::xy && steps > 0 ? steps + 1 : steps;
}

// Slots of a diagonal's node for what comes from below and from above it.
constexpr uint64_t from_below = 1, from_above = 2;

}  // namespace

Mesh::Mesh(uint64_t side, Routing routing) : Mesh(Network::mesh(side), routing) {}

Mesh::Mesh(const Network& mesh, Routing routing)
    : Schedule(mesh, routing == Routing::xy ? 3 : 1, step_count(mesh.side(), routing),
               mesh_bound(mesh.side())),
      routing_(routing),
      trades_(schedule::trades(mesh.side())) {}

Node Mesh::partner(Node node) const {
  const uint64_t side = network().side();
  return node % side * side + node / side;
}

// (j, j) or (i, i).
Node Mesh::corner(Node node, bool up) const {
  const uint64_t side = network().side();
  return (up ? node % side : node / side) * (side + 1);
}

void Mesh::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  if (routing_ == Routing::any) return trade(trades_[step], out);
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

std::optional<Place> Mesh::goal(Place start) const {
  if (start.slot != 0) return {};
  return Place{partner(start.node), 0};
}

}  // namespace xorder::schedule
