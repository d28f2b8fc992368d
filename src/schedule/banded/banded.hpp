// Transposition of a banded N × N matrix on a hypercube of N = 2^d nodes with one column each (Varvarigos and
// Bertsekas, as in isotropic.hpp; the closed form is ours, because theirs leaves a choice open).
//
// The band is cyclic: a[i, c] may be nonzero where i − c, modulo N, is from −2^β to 2^β. It must go from the
// node of column c to the node of column i. Split c = c2·2^β + c1, c1 its β low bits. The *Binary-Gray
// assignment* puts column c at node c1·G(c2): c1 in the top β bits, the reflected Gray code of c2 in the low
// d−β bits. So nodes of equal c1 form a ring, in which c ± 2^β are neighbours, and a packet's way is at most
// one link of the ring and then a tag t = c1 ⊕ i1 of β bits:
//
//   A  2^β packets stay at their ring position c2: every tag once
//   B  2^β + 1 go to a ring neighbour, to the next one if i1 ≤ c1 and to the one before if i1 ≥ c1:
//      every tag once, but tag 0 to both
//
// A and B are isotropic. Let w be the array of exchange.hpp for dimension β, and h = 2^(β−1). In the steps
// s < h, A's tag w(s, j) crosses dimension d−β+j; in the steps h ≤ s < 2h, B's tag w(2h−1−s, j) does.
// Meanwhile every node sends its ring packets, one tag per step, in the order in which the B half first needs
// them (within a step of it, j descending). Tag 0, which it does not need, comes last. Each packet arrives
// before it is needed, and the whole takes 2^β steps for every β < d, which is optimal.
//
//   d = 4, β = 2    j = 2    j = 3   ring
//         step 0     A 3      A 2      3
//         step 1     A 1      A 3      1
//         step 2     B 1      B 3      2
//         step 3     B 3      B 2      0
//
// If β = d−1, rings have two nodes, and c ± N/2 are the same column with one packet. β = d is the total
// exchange: A alone.
//
// A node's slots are its column's band, in storage order: slot s holds offset i − c = s − min(2^β, N/2). All
// moves are exchanges: a packet at node u that is to go on by t lies where u's own packet with that tag lay.
//
// A narrower band leaves the outer slots empty, and empty slots are not sent. It takes as many steps as the
// full one, and so is not optimal: band_task.hpp and routed.hpp do better.
#pragma once

#include <algorithm>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// A cyclic band: a[i, c] may be nonzero where i − c, modulo N, is one of −back .. ahead.
struct Diagonals {
  std::uint64_t back = 0;
  std::uint64_t ahead = 0;

  /// |i − j| ≤ (width − 1) / 2, and one diagonal more ahead if the width is even.
  static Diagonals of_width(std::uint64_t width) { return {(width - 1) / 2, width / 2}; }
  std::uint64_t width() const { return back + ahead + 1; }
  /// The band without the offsets ahead that equal offsets back modulo 2^dimension. Requires back <
  /// 2^dimension.
  Diagonals once(int dimension) const {
    return {back, std::min(ahead, (std::uint64_t{1} << dimension) - 1 - back)};
  }
  bool operator==(const Diagonals&) const = default;
};

/// All diagonals of a matrix of 2^dimension columns, once.
inline Diagonals whole_matrix(int dimension) {
  const std::uint64_t columns = std::uint64_t{1} << dimension;
  return {columns / 2, (columns - 1) / 2};
}

/// Where the columns of a band are.
struct BandLayout {
  int dimension = 0;  ///< d
  int beta = 0;       ///< 0 ≤ β ≤ d

  Node node(std::uint64_t column) const;
  std::uint64_t column(Node node) const;
  /// Offsets i − c, modulo N, from −reach() to reach(), or to N/2 − 1 if the band is the whole matrix.
  std::uint64_t reach() const;
  std::uint64_t width() const;
  std::uint64_t slot(std::uint64_t offset) const;
  std::uint64_t offset(std::uint64_t slot) const;
};

/// β for a band of `bandwidth` diagonals, |i − j| ≤ (bandwidth−1)/2: ⌈lg ⌈(bandwidth−1)/2⌉⌉, which is below
/// d. Throws InputError if bandwidth < 2 (a diagonal matrix is its own transpose) or bandwidth ≥ 2^d.
int beta_of_bandwidth(std::uint64_t bandwidth, int dimension);

/// The same for N columns on P = 2^d nodes, about N/P consecutive ones each. Half the bandwidth in blocks is
/// γ = ⌈(bandwidth−1) / (2⌊N/P⌋)⌉, and β = ⌈lg γ⌉, but at most d, which is the whole matrix. Throws
/// InputError unless 2 ≤ bandwidth < N and N ≥ P.
struct BandOfBlocks {
  std::uint64_t half = 0;  ///< γ
  int beta = 0;
};
BandOfBlocks band_of_blocks(std::uint64_t bandwidth, std::uint64_t columns, int dimension);

class Banded final : public Schedule {
 public:
  /// 0 ≤ β ≤ d ≤ 20 (InputError otherwise).
  Banded(int dimension, int beta);
  /// A band within that one, 0 ≤ back, ahead ≤ 2^β and β < d (InputError otherwise).
  Banded(int dimension, int beta, const Diagonals& band);

  const BandLayout& layout() const { return layout_; }
  /// The tag that crosses dimension d−β+j in a step, 0 ≤ j < β: A's, or in the second half B's.
  std::uint64_t tag(std::uint64_t step, int j) const;
  bool second_half(std::uint64_t step) const { return step >= half_; }
  /// By step: the tag whose packets are sent along the ring. Empty if β = d.
  const std::vector<std::uint64_t>& release() const { return release_; }

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

 private:
  Banded(const Network& hypercube, BandLayout layout, std::optional<Diagonals> band);
  bool within_band(std::uint64_t offset) const;
  bool carries(std::uint64_t step, int j, std::uint64_t c1) const;
  std::uint64_t places_in_ring(std::uint64_t tag, bool crosses_ring) const;

  BandLayout layout_;
  std::uint64_t half_;  // h
  std::vector<std::uint64_t> release_;
  std::optional<Diagonals> band_;       // only if it is narrower
  std::vector<std::uint32_t> crossed_;  // then, by step and j: what the tag's packets have crossed before
};

}  // namespace xorder::schedule
