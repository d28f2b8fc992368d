// Several banded matrices transposed at once on one hypercube, in closed form: in two phases (Varvarigos and
// Bertsekas, as in isotropic.hpp), or one after another. Two phases take fewer steps if β = 1 or there are
// many matrices. band_placement.hpp and routed.hpp find shorter schedules if a search is affordable.
//
// One matrix uses the β dimensions of c1 for its isotropic part (banded.hpp), and the ring dimensions little.
// So matrix m is put at nodes rotated left by mβ bits: the isotropic parts of up to ⌊d/β⌋ matrices use
// disjoint dimensions. In the first phase, of 2^β steps, they all run: A's tags, then B's, so that every
// packet has its c1. In the second phase the ring packets cross one link each. Where rings of different
// matrices share a link they queue, and the phase takes as many steps as the longest queue has packets.
//
// Slots: the bands of all matrices, m·width + slot, and then as many again, in which packets arrive over the
// ring (queues of different lengths let a packet arrive before the one in its place has left).
#pragma once

#include "schedule/banded/banded.hpp"

namespace xorder::schedule {

class BandedBatch final : public Schedule {
 public:
  /// 1 ≤ β < d and 1 ≤ matrices ≤ ⌊d/β⌋ (InputError otherwise).
  BandedBatch(int dimension, int beta, int matrices);

  const BandLayout& layout() const { return layout_; }
  /// 2^β; the steps from here on are the second phase.
  std::uint64_t first_phase() const;
  /// The node of the column that `layout` puts at node v, in matrix m; and back.
  Node rotated(Node v, int m) const;
  Node unrotated(Node v, int m) const;

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;

 private:
  BandedBatch(const Network& hypercube, BandLayout layout, int matrices);
  void isotropic_part(std::uint64_t step, std::vector<Message>& out) const;
  void ring_part(std::uint64_t place_in_queue, std::vector<Message>& out) const;

  BandLayout layout_;
  int matrices_;
};

/// One of several matrices: a band as Banded takes it with its β, or the whole matrix with β = d.
struct BandOfNodes {
  int beta = 0;
  Diagonals band;
};

/// One matrix after the other, each by Banded, in the sum of their steps. Each is put at nodes rotated left
/// from those of the one before, by that one's β bits (modulo d); its slots follow those of the one before.
class BandedInTurn final : public Schedule {
 public:
  /// 0 ≤ β ≤ d, and at least one matrix (InputError otherwise).
  BandedInTurn(int dimension, const std::vector<BandOfNodes>& matrices);

  int rotation(std::size_t m) const { return members_[m].rotation; }
  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

 private:
  struct Member {
    Banded schedule;
    int rotation;
    std::uint64_t first_slot, first_step;
  };
  BandedInTurn(int dimension, std::vector<Member> members, const std::vector<BandOfNodes>& matrices);
  static std::vector<Member> made(int dimension, const std::vector<BandOfNodes>& matrices);
  const Member& at_slot(std::uint64_t slot) const;
  const Member& at_step(std::uint64_t step) const;

  std::vector<Member> members_;
};

}  // namespace xorder::schedule
