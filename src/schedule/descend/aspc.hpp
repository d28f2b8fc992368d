// ASPC, all-to-some personalised communication on a hypercube: (i | j) → (i ± 2^j | j) for all nodes i and
// slots j at once (Hu, "Optimal all-to-some personalized communication on hypercubes", IPPS/SPDP 1998; the
// second link is misprinted in its theorem).
//
// There are 2^n logical nodes with n slots each; node i is the physical node G(i), G the reflected Gray code.
// In the plus half, slot j of i goes to slot j of i + 2^j, in the minus half to i − 2^j, all j at once (mod
// 2^n). In Gray code i and i ± 1 are neighbours, and i and i ± 2^j are two links apart. Link k leads from
// logical i to i ⊕ (2^(k+1) − 1): it reverses each aligned run of 2^(k+1) numbers. With H(i) = min(trailing
// ones of i, n−1), the link that leads from i to i + 1, and q = ⌊i / 2^(j−1)⌋ · 2^(j−1):
//
//   plus   first link φ_i(0) = H(i),      φ_i(j) = H(q + 2^j − 1);         second link H(q + 2^(j−1) − 1)
//   minus  first link ϕ_i(0) = H(i − 1),  ϕ_i(j) = H(q − 2^(j−1) − 1);     second link H(q − 1)
//
// Two reversals, one after the other, shift the run of 2^(j−1) numbers that begins at q, here by 2^j. All
// first links of a node differ, and so do the second ones. So a half takes 2 steps: first all slots, then
// slots 1 .. n−1.
//
//   n = 3, φ_i(j)   i = 0 1 2 3 4 5 6 7
//           j = 0       0 1 0 2 0 1 0 2
//           j = 1       1 0 2 0 1 0 2 0
//           j = 2       2 2 1 1 2 2 1 1
#pragma once

#include <utility>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// The way in one half from logical i to i ± 2^j of 2^n: links first and second; j = 0 has no second (−1).
struct AspcWay {
  int first = -1;
  int second = -1;
};
enum class AspcHalf { plus, minus };
/// Requires 0 ≤ j < n and i < 2^n.
AspcWay aspc_way(AspcHalf half, Node i, int j, int n);

/// Where crossing link k leads from logical i.
constexpr Node aspc_across(Node i, int k) { return i ^ ((Node{2} << k) - 1); }

/// The first or the second link on the way of what logical i sends in slot j, between physical nodes.
struct AspcHop {
  Node from = 0, to = 0;
};
/// Requires 0 < j for the second one.
AspcHop aspc_hop(AspcHalf half, Node i, int j, int n, bool second_link);

class Aspc final : public Schedule {
 public:
  enum class Halves { plus, minus, both };
  /// 0 ≤ n ≤ 20 (InputError otherwise). Slots j are the plus half's, and with `both` slots n + j the minus
  /// half's. 2 steps per half, 1 if n = 1, none if n = 0. With n = 2 both halves together take 3 (ours).
  Aspc(int dimension, Halves halves);
  /// Slot b alone, the permutations PM2I: slot 0 goes to i + 2^b, and with `both` slot 1 to i − 2^b, at once.
  /// 2 steps, 1 for b = 0; two nodes have one link for both halves, so they take a step for each. 0 ≤ b < n
  /// (InputError otherwise).
  static Aspc alone(int dimension, Halves halves, int b);

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

  /// What all nodes send in a step: in which slot of which half.
  struct Hop {
    AspcHalf half;
    int j;
    bool second_link;
  };
  std::vector<Hop> hops(std::uint64_t step) const;
  /// The half and the j of what is sent in a slot.
  std::pair<AspcHalf, int> sent_in(std::uint64_t slot) const;

 private:
  /// All j from `first` on, below `end`.
  Aspc(const Network& hypercube, Halves halves, int first, int end);
  bool one_alone() const { return end_ - first_ < network().dimension(); }

  Halves halves_;
  int first_, end_;
};

}  // namespace xorder::schedule
