// One-to-all personalised communication on a hypercube: node 0 has a word for each other node.
//
// A spanning tree whose root is node 0 has a subtree for each of the root's d links. The root sends the words
// of a subtree over its link one after the other, those for the farthest nodes first, and they go down the
// tree without waiting. Two words of a subtree leave one step apart and stay apart; different subtrees have
// no link in common. So the schedule takes as many steps as the largest subtree has nodes.
//
// The tree is made level by level. A node at distance e may join each subtree that has one of its neighbours
// at distance e − 1, and joins the smallest. For d up to 13 (tests) the largest subtree then has
// ⌈(2^d − 1) / d⌉ nodes, and fewer steps are not possible.
#pragma once

#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

class OneToAll final : public Schedule {
 public:
  /// Slot v of node 0 goes to slot 0 of node v, v > 0; on the way it lies in slot v. 0 ≤ d ≤ max_dimension
  /// (InputError otherwise). Takes O(d² · 2^d) time.
  explicit OneToAll(int dimension);
  static constexpr int max_dimension = 13;

  /// Whose word node 0 sends over link j in a step; 0: none.
  Node sent(std::uint64_t step, int j) const;

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;

 private:
  struct Tree {
    std::vector<Node> parent;              // by node
    std::vector<std::vector<Node>> order;  // by link of node 0: its subtree, in the order of leaving
  };
  OneToAll(const Network& hypercube, Tree tree);
  static Tree tree_of(int dimension);
  static std::uint64_t steps_of(const Tree& tree);

  Tree tree_;
};

}  // namespace xorder::schedule
