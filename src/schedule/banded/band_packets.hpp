// What banded.cpp and banded_batch.cpp share: the slots in which a node's packets of each tag lie.
#pragma once

#include <fmt/format.h>

#include "schedule/banded/banded.hpp"
#include "schedule/bits.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

inline int checked_beta(int beta, int dimension) {
  if (beta < 0 || beta > dimension) {
    throw InputError(fmt::format("beta is {}; it must be from 0 to the dimension, {}", beta, dimension));
  }
  return beta;
}

/// The packets at one node u, by their tag t: the dimensions of c1 that they have to cross, or have crossed.
class BandPackets {
 public:
  BandPackets(const BandLayout& layout, Node u)
      : layout_(layout), column_(layout.column(u)), c1_(modulo(column_, layout.beta)) {}

  std::uint64_t c1() const { return c1_; }
  /// The node's neighbours in its ring, with columns c + 2^β and c − 2^β.
  Node next() const { return at(column_ + pow2(layout_.beta)); }
  Node before() const { return at(column_ - pow2(layout_.beta)); }

  /// The slot of the packet that goes to row c1 ⊕ t at the same ring position.
  std::uint64_t own_slot(std::uint64_t t) const { return layout_.slot((c1_ ^ t) - c1_); }
  /// Whether the ring packet with tag t ≠ 0 goes to the node before, because row c1 ⊕ t at the next one is
  /// outside the band.
  bool backward(std::uint64_t t) const { return (c1_ ^ t) > c1_; }
  /// The slot of the packet with tag t ≠ 0 that goes to, or has come from, a ring neighbour.
  std::uint64_t ring_slot(std::uint64_t t) const {
    const std::uint64_t ring = pow2(layout_.beta);
    return layout_.slot((c1_ ^ t) - c1_ + (backward(t) ? -ring : ring));
  }

 private:
  Node at(std::uint64_t column) const { return layout_.node(modulo(column, layout_.dimension)); }

  const BandLayout& layout_;
  std::uint64_t column_;
  std::uint64_t c1_;
};

/// Throws InputError unless BandedBatch can transpose these matrices at once: 1 ≤ β < d, 1 ≤ matrices ≤
/// ⌊d/β⌋.
void require_matrices(int dimension, int beta, int matrices);

}  // namespace xorder::schedule
