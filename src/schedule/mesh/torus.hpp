// Transposition on an N × N torus with wormhole switching: an open question of Tsay, Ding and Wang
// (mesh.hpp). The bound and the schedule are ours.
//
// Let k = (i − j) mod N. A link changes k by one, and block (i, j) goes from k to −k: over the main diagonal,
// k = 0, or over the far one, k = N/2. Over the main diagonal a block crosses at least 2·min(k, N − k) links,
// otherwise at least N. But all blocks go in fewer than N/4 steps only if some avoid the main diagonal, whose
// N nodes have 4N links; so those with the longest ways must (torus_bound() in bounds.hpp).
//
// All N blocks of a k move alike at once, one row and one column apart. So only k counts, and in each of the
// four directions a ring of N links, from k to k ± 1. What follows is for 0 < k ≤ N/2. The blocks of −k move
// at the same times in opposite directions.
//
//   near, k ≤ S    over the main diagonal in one step, right and then up, or up and then right
//   far, k > S     up by a, left by N − k and up by k − a, with 0 < a < k. Such a block stops on the far
//                  diagonal, halfway along its row, for the next step to take it on.
//
// Let T = ⌈⌊N/2⌋ / 3⌉, and S the smaller of ⌊N/2⌋ − T + 1 and 2T. Step t = 0 .. T−1
// begins to move three k: the near ones s = ⌈S/2⌉ − t, right first, and s' = S + 1 − s, up first, and the
// far one S + 1 + t with a = s, except in the last step. No link carries two blocks: as intervals of k
// modulo N, the blocks that go right, s, s' and, of −k, the far ones of this step and of the one before,
// cross
//
//   [0, s]   [−s', 0]   [⌊N/2⌋, N − k + s]   [a₋, ⌊N/2⌋]          a₋ = s + 1: what a was in step t − 1
//
// and those that go up, s, s', the far one and that of the step before, k₋,
//
//   [−s, 0]   [0, s']   [k − s, k]   [−k₋, −a₋].
//
// They do not overlap, because s + s' = S + 1 ≤ k and k + k₋ ≤ N. Left and down are the same for −k.
//
// This is all k, unless ⌊N/2⌋ = 3T. Then k = 3T is left. It uses what is free in the first step, which
// brings nothing from before, and in the last one, in which nothing begins: right by 2T and down by 2T − 1
// in step 0, and down by N − 5T + 1 and right by T in step T − 1. So right [T, 3T] and, of −k, up [N − 3T +
// 1, N − T] are used as well in step 0, and right [N − 3T, N − 2T] and up [2T, N − 3T + 1] in step T − 1.
//
// For T = 1 these would be one step, so N = 6 and 7, where k = 3 is left, turn three times in the only step:
//
//   k = 1     right by 1 and up by 1
//   k = 2     up by 2 and right by 2
//   k = 3     right by 2, down by N − 3 and right by 1, over the far diagonal
//
// Going right they cross [0, 1], [−2, 0], [1, 3] and [N − 3, N − 2], and going down, with −1 and −2, [0, 1],
// [−2, 0] and [1, N − 2]. These do not overlap. Left and up are the same for −k.
//
// T steps are about N/6, and the bound is about N / (4 + 2√2) = N/6.83. T is the bound for N ≤ 7, and the
// bound or one more for N ≤ 64. Whether ways of more turns reach the bound for other N is not known.
//
// With XY routing only, every message goes along its row first. Then rows and columns change roles, and a way
// that begins in a column, or turns into its row, stops at the corner and goes on a step later. This takes T
// + 1 steps (one for N < 4, three for N = 6 and 7, where T counts as 2).
#pragma once

#include <memory>
#include <vector>

#include "schedule/mesh/mesh.hpp"

namespace xorder::schedule {

class Torus final : public Schedule {
 public:
  /// N ≤ 1024. Routing `any` or `xy` (InputError for those that are a mesh's only). Slot 0 is a node's block.
  /// If blocks stop on their way, there are two slots more: 1 for blocks that began at 0 < k ≤ N/2, and 2 for
  /// the others.
  Torus(std::uint64_t side, Mesh::Routing routing);

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

  /// Rows down and columns to the right.
  struct Leg {
    std::int64_t rows = 0, columns = 0;
  };
  /// All blocks that lie at (i, i − k), i = 0 .. N−1, move by one leg or more, none of them longer than half
  /// a ring.
  struct Move {
    std::int64_t k = 0;
    std::uint64_t from_slot = 0, to_slot = 0;
    std::vector<Leg> legs;
  };

 private:
  explicit Torus(const Network& torus, std::vector<std::vector<Move>> moves);

  Node after(Node from, const Leg& leg) const;

  std::vector<std::vector<Move>> moves_;  // by step
  std::vector<std::vector<Node>> turns_;  // by sender, of messages that turn more than once
};

/// Mesh or Torus.
std::unique_ptr<Schedule> mesh_schedule(std::uint64_t side, Mesh::Routing routing, bool torus);

}  // namespace xorder::schedule
