#include "schedule/mesh/torus.hpp"

#include <algorithm>
#include <cstdlib>

#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::int64_t;
using std::uint64_t;
using Leg = Torus::Leg;
using Move = Torus::Move;
using Moves = std::vector<std::vector<Move>>;

constexpr uint64_t home = 0, on_its_way = 1, mirrored_on_its_way = 2;

// Puts moves into steps.
class MovesByStep {
 public:
  explicit MovesByStep(int64_t side) : side_(side) {}

  // A move of the blocks that began at k, and with it that of the blocks that began at −k.
  void add(uint64_t step, int64_t k, const Move& move) {
    if (moves_.size() <= step) moves_.resize(step + 1);
    moves_[step].push_back(move);
    if (2 * k == side_) return;  // −k is k
    const auto mirrored = [](uint64_t slot) { return slot == home ? home : mirrored_on_its_way; };
    Move back{-move.k, mirrored(move.from_slot), mirrored(move.to_slot), {}};
    for (const Leg& leg : move.legs) back.legs.push_back({-leg.rows, -leg.columns});
    moves_[step].push_back(std::move(back));
  }
  Moves take() { return std::move(moves_); }

 private:
  int64_t side_;
  Moves moves_;
};

Moves moves_of(uint64_t nodes_in_a_row, Mesh::Routing routing) {
  const auto side = static_cast<int64_t>(nodes_in_a_row), half = side / 2;
  MovesByStep moves(side);
  if (half == 0) return {};
  const bool xy = routing == Mesh::Routing::xy;
  const int64_t groups = half == 3 && xy ? 2 : (half + 2) / 3, near = std::min(half - groups + 1, 2 * groups);
  for (int64_t t = 0; t < groups; ++t) {
    const auto step = static_cast<uint64_t>(t);
    const int64_t s = (near + 1) / 2 - t, partner = near + 1 - s, far = near + 1 + t;
    const bool alone = s == partner;
    if (s > 0 && !alone && xy) {
      moves.add(step, s, {s, home, on_its_way, {{-s, 0}}});
      moves.add(step + 1, s, {0, on_its_way, home, {{0, s}}});
      moves.add(step, partner, {partner, home, home, {{0, partner}, {-partner, 0}}});
    } else if (s > 0) {
      moves.add(step, s, {s, home, home, {{0, s}, {-s, 0}}});
      if (!alone) moves.add(step, partner, {partner, home, home, {{-partner, 0}, {0, partner}}});
    }
    if (t == groups - 1) break;
    const int64_t to_halfway = side - half - far + s, from_halfway = half - s;
    if (xy) {
      moves.add(step, far, {far, home, on_its_way, {{0, s}, {to_halfway, 0}}});
      moves.add(step + 1, far, {-half, on_its_way, on_its_way, {{from_halfway, 0}}});
      moves.add(step + 2, far, {-s, on_its_way, home, {{0, far - s}}});
    } else {
      moves.add(step, far, {far, home, on_its_way, {{-s, 0}, {0, -to_halfway}}});
      moves.add(step + 1, far, {-half, on_its_way, home, {{0, -from_halfway}, {s - far, 0}}});
    }
  }
  if (near + groups - 1 < half) {  // half = 3 groups is left
    const int64_t n = groups, y = 2 * n - 1, rest = side - half - y;
    const auto last = static_cast<uint64_t>(n - 1);
    if (n == 1) {
      moves.add(0, half, {half, home, home, {{0, 2}, {2, 0}, {side - 5, 0}, {0, 1}}});
    } else if (xy) {
      moves.add(0, half, {half, home, on_its_way, {{-2 * n, 0}}});
      moves.add(1, half, {n, on_its_way, on_its_way, {{0, -y}}});
      moves.add(last + 1, half, {n + y, on_its_way, home, {{0, -rest}, {-n, 0}}});
    } else {
      moves.add(0, half, {half, home, on_its_way, {{0, 2 * n}, {y, 0}}});
      moves.add(last, half, {n + y, on_its_way, home, {{rest, 0}, {0, n}}});
    }
  }
  return moves.take();
}

bool stops(const Moves& moves) {
  for (const auto& step : moves) {
    for (const Move& move : step) {
      if (move.to_slot != home) return true;
    }
  }
  return false;
}

const Network& checked(const Network& torus, Mesh::Routing routing) {
  if (routing == Mesh::Routing::any || routing == Mesh::Routing::xy) return torus;
  throw InputError("on a torus, messages take routing any or xy; the other routings are for a mesh");
}

// The place on a ring, `distance` < ring from another one.
uint64_t further(uint64_t from, int64_t distance, uint64_t ring) {
  return (from + static_cast<uint64_t>(distance + static_cast<int64_t>(ring))) % ring;
}

}  // namespace

Torus::Torus(uint64_t side, Mesh::Routing routing)
    : Torus(checked(Network::torus(side), routing), moves_of(Network::torus(side).side(), routing)) {}

Torus::Torus(const Network& torus, std::vector<std::vector<Move>> moves)
    : Schedule(torus, stops(moves) ? 3 : 1, moves.size(), torus_bound(torus.side())),
      moves_(std::move(moves)) {
  for (const auto& step : moves_) {
    for (const Move& move : step) {
      if (move.legs.size() <= 2) continue;
      turns_.resize(torus.nodes());
      for (uint64_t i = 0; i < torus.side(); ++i) {
        const Node from = i * torus.side() + further(i, -move.k, torus.side());
        Node at = after(from, move.legs.front());
        for (std::size_t leg = 1; leg + 1 < move.legs.size(); ++leg)
          turns_[from].push_back(at = after(at, move.legs[leg]));
      }
    }
  }
}

Node Torus::after(Node from, const Leg& leg) const {
  const uint64_t side = network().side();
  return further(from / side, leg.rows, side) * side + further(from % side, leg.columns, side);
}

void Torus::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  const uint64_t side = network().side();
  for (const Move& move : moves_[step]) {
    for (uint64_t i = 0; i < side; ++i) {
      const Node from = i * side + further(i, -move.k, side), via = after(from, move.legs.front());
      const std::vector<Node>* const turns = move.legs.size() > 2 ? &turns_[from] : nullptr;
      const Node last = turns ? turns->back() : via;
      const Node to = move.legs.size() > 1 ? after(last, move.legs.back()) : via;
      out.push_back({{from, move.from_slot}, {to, move.to_slot}, via, turns});
    }
  }
}

std::optional<Place> Torus::goal(Place start) const {
  if (start.slot != home) return {};
  const uint64_t side = network().side();
  return Place{start.node % side * side + start.node / side, home};
}

Schedule::Load Torus::load(uint64_t step) const {
  const uint64_t side = network().side();
  Load load;
  for (const Move& move : moves_[step]) {
    load.messages += side;
    for (const Leg& leg : move.legs) {
      load.crossings += side * static_cast<uint64_t>(std::abs(leg.rows) + std::abs(leg.columns));
    }
  }
  return load;
}

std::unique_ptr<Schedule> mesh_schedule(uint64_t side, Mesh::Routing routing, bool torus) {
  if (torus) return std::make_unique<Torus>(side, routing);
  return std::make_unique<Mesh>(side, routing);
}

}  // namespace xorder::schedule
