// BMMC permutations on P processors in rounds of whole chunks (Cormen, Dartmouth College technical report
// PCS-TR97-317).
//
// There are N = 2^n elements and P = 2^p processors. The top p bits of an index are the number of the
// processor that owns it (*processor-major*), the other n−p its place there. y = A x ⊕ c. An element goes to
// processor γ·place ⊕ δ·processor ⊕ c_top, where γ and δ are the lower left p × (n−p) and the lower right p ×
// p part of A. So a processor's elements go to 2^r processors, r = rank γ. If the elements for each of them
// lie together, the receiver need not be told any index. To that end A is factored, A = V W with V = A T R Π
// and W = (T R Π)⁻¹:
//
//   T  trailer   adds left columns into right ones so that δ becomes nonsingular: then no two processors send
//                to the same one in a round. If it can, δ = I (ours): then there is a round, γ''b = c_top, in
//                which all chunks stay, and the others are as many as the bound
//   R  reducer   clears the columns of γ that depend on others
//   Π  swapper   moves the r columns that are left to the right end of the left part
//
//                left, n−p columns   right, p columns
//   V =      [   α'  |   α''      |     β     ]  n−p rows
//            [   0   |   γ''      |     δ     ]  p rows          α'' and γ'' have r columns
//
// W keeps every element on its processor, so it is a permutation within each. Then the top r bits b of an
// element's place name its *chunk* of 2^(n−p−r) elements, and chunk b of processor k goes, whole, to
// processor γ''b ⊕ δk ⊕ c_top in round b, which receives it where its own chunk b was. The receiver knows the
// sender, and so where each element belongs.
#pragma once

#include <cstdint>

#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// The factors of a map. Plain data, which can be used any number of times.
struct RoundFactors {
  gf2::BitMatrix trailer, reducer, swapper;  ///< T, R, Π
  gf2::BitMatrix within;                     ///< W
  gf2::BitMatrix across;                     ///< V
  gf2::Word complement = 0;                  ///< c
  int n = 0;
  int p = 0;
  int rank = 0;  ///< of γ

  gf2::BitMatrix alpha_1, alpha_2, beta, gamma_2, delta;  ///< α', α'', β, γ'', δ: the parts of V above
  gf2::BitMatrix delta_inverse;
};

/// Requires 0 ≤ p ≤ map.bits() (InputError otherwise, also if the map is singular). O(n³) word operations.
RoundFactors factor_rounds(const gf2::AffineMap& map, int p);

/// The matrix Q for files in which the processor number is bits f .. f+p−1 of an index: Q·index is
/// processor-major. f = n−p is processor-major itself, f = 0 processor-minor. Requires 0 ≤ f ≤ n−p.
gf2::BitMatrix processor_layout(int n, int p, int f);

/// The rounds of a map whose index has its processor number in bits f .. f+p−1, before and after. A slot is a
/// chunk. All members take places on a processor, that is, processor-major indices: see layout().
class Rounds final : public Schedule {
 public:
  /// Requires 0 ≤ p ≤ 20 and 0 ≤ f ≤ map.bits() − p (InputError otherwise).
  Rounds(const gf2::AffineMap& map, int p, int f);

  const RoundFactors& factors() const { return factors_; }
  const gf2::BitMatrix& layout() const { return layout_; }
  int lg_block() const { return factors_.n - factors_.p; }  ///< elements of a processor
  int lg_chunk() const { return lg_block() - factors_.rank; }

  /// First, processor k moves the element at its place x to its place within(k)(x).
  gf2::AffineMap within(Node k) const;
  /// The processor to which k sends its chunk in a round, and the one from which it receives one.
  Node target(Node k, std::uint64_t round) const;
  Node source(Node k, std::uint64_t round) const;
  /// Element j of the chunk that came from `sender` in a round belongs at the receiver's place
  /// scatter(..)(j).
  gf2::AffineMap scatter(Node sender, std::uint64_t round) const;

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  /// Computed from A itself: the processor of the images of a chunk's elements.
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

 private:
  Rounds(const gf2::AffineMap& processor_major, int p, gf2::BitMatrix layout);

  gf2::BitMatrix layout_;
  gf2::AffineMap map_;  // processor-major
  RoundFactors factors_;
  gf2::BitMatrix before_;  // W⁻¹
  gf2::BitMatrix stays_;   // δ ⊕ I
  std::uint64_t stayers_;  // 2^(dim of its kernel)
};

}  // namespace xorder::schedule
