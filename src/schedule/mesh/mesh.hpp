// Transposition on an N × N mesh with wormhole switching (after Tsay, Ding and Wang, "Optimal algorithm for
// matrix transpose on wormhole-switched meshes", J. Inf. Sci. Eng. 19, 2003, 167-177; their schedule is for
// even N only and misses the lower bound for some, this one reaches it for every N).
//
// Block (i, j) trades places with block (j, i). A message holds all directed links of its path for the step.
// A node (i, j) below the diagonal, i > j, has two ways that turn once:
//
//                       j        i                         j        i
//   U_j, up and         ↑ ───────→ (j, i)      R_i, right           (j, i)
//   then right:         │                      and then up:             ↑
//                    (i, j)                                (i, j) ──────┘  at (i, i)
//
// U_j uses the links of column j below the diagonal and of row j right of it; R_i those of row i left of the
// diagonal and of column i above it. So all 2N resources U_0 .. R_(N−1) are disjoint, and in each step every
// one of them can carry a message; the partner in (j, i) takes the mirrored way. It remains to divide the
// nodes (i, j) among U_j and R_i so that none has more than T(N), the lower bound (src/schedule/bounds.hpp).
// For each row i, the max(0, i − T) columns j < i with the most room left go up, and the rest go right. It
// works for every N.
//
// With XY routing only, which goes along the row first, U_j is split at the diagonal: its second leg follows
// a step later. What comes from above the diagonal goes the ways of what comes from below, on the mesh turned
// by half a turn. That takes T(N) steps if no column carries more than T − 1, which is possible for 31 of the
// sides 2 to 64, and T(N) + 1 otherwise.
//
// The paper's own schedule has two phases of x and y steps, together T(N) for most even N: x is the largest
// with y = N/2 − 2x ≥ 0 and x(x − 1) ≤ y(N/2 − 1). `two_phase` is a schedule of these phases: in the first,
// the U_j of the left half and the R_i of the lower half carry only blocks of the lower left quarter. The
// lengths of the phases are the paper's. Which block goes when and where is ours;
// src/schedule/mesh/mesh_trades.cpp proves that it works.
//
// `recursive` is the well-known recursive exchange with XY routing, which takes about N steps (Ding, Ho and
// Tsay, "Matrix transpose on meshes with wormhole and XY routing", SPDP 1994, compare theirs with it; they
// do not print it). The upper right quarter and the lower left one change places as they are, block (i, j +
// N/2) with (i + N/2, j), and then all four quarters are transposed in the same way at once. For h = N/2,
// N/4 .. 1, all h blocks of a row's half go to the other half, and a link carries one of them in a step. So
// this takes h steps, in which the links that join the halves are always busy, and N − 1 in all. In step t
// row i of the upper half trades column (i + t) mod h, so each column is used once as well, and each node
// sends one message and receives one.
#pragma once

#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

class Mesh final : public Schedule {
 public:
  using Routing = MeshRouting;
  /// N ≤ 1024, even for `two_phase`, and a power of two or 0 for `recursive` (InputError otherwise). Slot 0
  /// is a node's block. With `xy` the nodes have two slots more, in which the diagonal's nodes keep what
  /// turns there from below and from above, and others a block that comes before their own has left.
  Mesh(std::uint64_t side, Routing routing);

  Routing routing() const { return routing_; }
  /// The nodes (i, j), i > j, that go up or right in each step, with their partners (`xy`: with those
  /// opposite them, (N − 1 − i, N − 1 − j)). None if `recursive`.
  struct Step {
    std::vector<Node> up;
    std::vector<Node> right;
  };
  const std::vector<Step>& trades() const { return trades_; }

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;

 private:
  Mesh(const Network& mesh, Routing routing, std::vector<Step> trades);
  void trade(const Step& step, std::vector<Message>& out) const;
  void begin(const Step& step, std::vector<Message>& out) const;
  void finish(const Step& step, std::vector<Message>& out) const;
  Node turned(Node node) const { return network().nodes() - 1 - node; }
  bool arrives_early(Node node) const;
  Place arrival(Node from) const;
  void exchange(std::uint64_t step, std::vector<Message>& out) const;
  Node partner(Node node) const;
  Node corner(Node node, bool up) const;

  Routing routing_;
  std::vector<Step> trades_;
  struct Leaving {
    std::uint64_t step = 0, arrival = 0;
  };
  std::vector<Leaving> leaves_;  // `xy`: when each node's block leaves, and when it arrives
};

}  // namespace xorder::schedule
