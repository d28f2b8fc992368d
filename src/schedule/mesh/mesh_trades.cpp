#include "schedule/mesh/mesh_trades.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::size_t;
using std::uint64_t;

// How many more messages each column can carry upwards.
class Room {
 public:
  Room(uint64_t columns, uint64_t each) : room_(columns, each) {}

  // Takes the `count` columns below `end` with the most room, of equal ones the smaller index. None if fewer
  // have room.
  std::vector<uint64_t> take(uint64_t count, uint64_t end) {
    std::vector<uint64_t> columns(end);
    std::iota(columns.begin(), columns.end(), uint64_t{0});
    std::ranges::stable_sort(columns, std::ranges::greater{}, [&](uint64_t j) { return room_[j]; });
    columns.resize(count);
    for (const uint64_t j : columns) {
      if (room_[j] == 0) return {};
      --room_[j];
    }
    return columns;
  }

 private:
  std::vector<uint64_t> room_;  // by column
};

// Which nodes go up, by row and column; the others below the diagonal go right.
using Division = std::vector<std::vector<bool>>;

// Each resource carries one message per step, in the order in which they are added.
class StepAssignment {
 public:
  StepAssignment(const Division& goes_up, uint64_t steps)
      : goes_up_(goes_up),
        steps_(static_cast<size_t>(steps)),
        next_up_(goes_up.size(), 0),
        next_right_(goes_up.size(), 0) {}

  void add(uint64_t i, uint64_t j) {
    const uint64_t node = i * goes_up_.size() + j;
    if (goes_up_[i][j]) {
      steps_.at(next_up_[j]++).up.push_back(node);
    } else {
      steps_.at(next_right_[i]++).right.push_back(node);
    }
  }
  // What U_j, j < n, and R_i, i ≥ n, carry from now on goes in this step or later.
  void not_before(size_t step, size_t n) {
    for (size_t k = 0; k < goes_up_.size(); ++k) {
      size_t& next = k < n ? next_up_[k] : next_right_[k];
      next = std::max(next, step);
    }
  }
  std::vector<Mesh::Step> take() { return std::move(steps_); }

 private:
  const Division& goes_up_;
  std::vector<Mesh::Step> steps_;
  std::vector<size_t> next_up_, next_right_;  // the next free step of U_j and of R_i
};

// A row carries `steps` nodes and a column `upward`, if that is enough for all.
std::optional<std::vector<Mesh::Step>> trades_within(uint64_t side, uint64_t steps, uint64_t upward) {
  Division goes_up(side, std::vector<bool>(side, false));
  Room room(side, upward);
  for (uint64_t i = steps + 1; i < side; ++i) {
    const std::vector<uint64_t> columns = room.take(i - steps, i);
    if (columns.empty()) return std::nullopt;
    for (const uint64_t j : columns) goes_up[i][j] = true;
  }
  StepAssignment assignment(goes_up, steps);
  for (uint64_t i = 0; i < side; ++i) {
    for (uint64_t j = 0; j < i; ++j) assignment.add(i, j);
  }
  return assignment.take();
}

}  // namespace

std::vector<Mesh::Step> trades_at_bound(uint64_t side) {
  return *trades_within(side, mesh_bound(side), mesh_bound(side));
}

// With XY routing an upward way takes two steps, so a column has one step less than a row, or the schedule
// one step more.
std::vector<Mesh::Step> trades_of_xy(uint64_t side) {
  const uint64_t steps = mesh_bound(side);
  if (steps > 0) {
    if (auto trades = trades_within(side, steps, steps - 1)) return *std::move(trades);
  }
  return trades_at_bound(side);
}

// Let n = N/2 = 2x + y. Below the diagonal lie a square, rows n .. N−1 of columns 0 .. n−1, a triangle above
// it and one to the right of it. The triangles and the square share only the U_j of the columns j < n and the
// R_i of the rows i ≥ n. In phase 1, of x steps, these 2n resources carry nodes of the square only. In phase
// 2, of y steps, they carry the rest of it, and what the triangles' own resources cannot carry in x + y
// steps.
//
//   Triangle above, rows i < n. R_i carries x + y of its i nodes, and the other e_i = max(0, i − x − y) go
//   up. These are E = 1 + 2 + .. + (x − 1) in all. They are dealt to columns 0 .. x+y in turn, all of which
//   are left of the rows concerned. The rule for x and y is E ≤ y(n − 1) / 2, which is at most y(x + y + 1).
//   So no column gets more than y, and all of them fit in phase 2.
//
//   Triangle to the right: the same mirrored at the other diagonal, (i, j) to (N−1−j, N−1−i), which exchanges
//   U and R. So row i ≥ n carries as many nodes of it as column N−1−i carries of the first, c_(N−1−i).
//
//   Square. Column j has room for x + y − c_j nodes, and row i, which has room for x + y − c_(N−1−i) of its n
//   = 2x + y nodes, sends the other x + c_(N−1−i) up. If columns with the most room are taken first, this
//   succeeds exactly if any k rows together want at most Σ_j min(k, x + y − c_j) (Gale and Ryser). With q =
//   max c_j ≤ y:
//     k ≤ x + y − q   Σ_j min = kn, and no row wants more than x + q ≤ n
//     k ≥ x + y       Σ_j min = n(x + y) − E ≥ nx + E, which is what all rows want, as 2E ≤ y(n − 1)
//     between         Σ_j min ≥ kn − E ≥ k(x + q), as k(n − x − q) ≥ (x + y − q)² ≥ x² ≥ E
std::vector<Mesh::Step> trades_in_two_phases(uint64_t side) {
  if (side % 2 != 0) {
    throw InputError(
        fmt::format("the two-phase schedule is for meshes of an even side, not for {0} × {0}; the other "
                    "routings take any",
                    side));
  }
  const uint64_t n = side / 2, last = side - 1;
  const auto [x, y] = mesh_phases(side);
  const uint64_t steps = x + y;
  Division goes_up(side, std::vector<bool>(side, false));
  Room room(n, steps);
  for (uint64_t i = n; i < side; ++i) {
    for (uint64_t j = n; j < i; ++j) goes_up[i][j] = true;
  }
  std::vector<uint64_t> extra(n, 0);  // c_j
  for (uint64_t i = steps + 1; i < n; ++i) {
    for (const uint64_t j : room.take(i - steps, steps + 1)) {
      goes_up[i][j] = true;
      goes_up[last - j][last - i] = false;
      ++extra[j];
    }
  }
  for (uint64_t i = n; i < side; ++i) {
    for (const uint64_t j : room.take(x + extra[last - i], n)) goes_up[i][j] = true;
  }

  StepAssignment assignment(goes_up, steps);
  for (uint64_t i = n; i < side; ++i) {
    for (uint64_t j = 0; j < n; ++j) assignment.add(i, j);
  }
  assignment.not_before(x, n);
  for (uint64_t i = 0; i < side; ++i) {
    for (uint64_t j = i < n ? 0 : n; j < i; ++j) assignment.add(i, j);
  }
  return assignment.take();
}

}  // namespace xorder::schedule
