// Tiles of which every rank has an equal part: how the permutation of an array that is distributed over ranks
// is cut into pieces that fit in the memory of all ranks together.
//
// N = 2^n elements, P = 2^p ranks; rank k holds the *block* of the elements whose indices have k in their top
// p bits. Element x goes to y = A x ⊕ c. A *common tile* is a coset of a subspace S of GF(2)^n for which
//
//   E_s ⊂ S and A⁻¹E_t ⊂ S                         it is read in runs of 2^s elements, and written in runs
//                                                  of 2^t (coset.hpp)
//   the top p bits of S's members take all values, so each rank has 2^m elements of each tile before and
//   and so do those of A's images of them          after, m = dim S − p
//
// So a tile is an array of 2^(m+p) elements that is distributed over the ranks like the whole, and its
// permutation is a BMMC permutation again: the same matrix for all tiles, with another complement for each.
// So the code that permutes distributed arrays in memory also permutes tiles, and thereby arrays of any size,
// reading and writing everything once.
//
// S is given by its reduced basis. Of its vectors, m have no bits at n−p and above; they span a rank's part
// of a tile. The others have one such bit each. The number of an element in its tile, m+p bits, consists of
// its coordinates in this basis; that of its image, of coordinates in the reduced basis of A S.
//
// Example: n = 4, P = 2, the transposition of a 4 × 4 matrix of which each rank has two rows, s = t = 1. The
// top bit of x is that of e_3, and the top bit of its image is that of e_1. So e_0, A⁻¹e_0 = e_2 and e_1 ⊕
// e_3 span an S: two tiles, of four elements in each rank.
#pragma once

#include <cstdint>
#include <optional>

#include "gf2/subspace.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::plan {

/// An S of dimension m + p for runs of at least 2^s and 2^t elements, or nothing if that takes more
/// dimensions. There always is one for s = t = 0. Requires a nonsingular map, 0 ≤ p and 0 ≤ s, t, m ≤
/// map.bits() − p.
std::optional<gf2::Subspace> common_space(const gf2::AffineMap& map, int p, int m, int s, int t);

/// The tiles of one map; immutable.
class CommonTiling {
 public:
  /// Requires an S as described above.
  CommonTiling(gf2::AffineMap map, int p, const gf2::Subspace& s);

  /// m: a rank has 2^m elements of a tile.
  int bits() const { return source_basis_.cols(); }
  std::uint64_t tiles() const { return std::uint64_t{1} << tile_units_.cols(); }
  /// s and t, as large as S allows.
  int source_run() const { return source_run_; }
  int target_run() const { return target_run_; }

  /// The permutation within a tile, of m + p bits with the rank's on top.
  gf2::AffineMap within(std::uint64_t tile) const;

  // Element j of a rank's part of a tile lies in the rank's block at base ⊕ basis(j). In runs of 2^s
  // elements (2^t in the target), the low s bits of a base are 0 and the first s columns of the basis are
  // unit vectors.
  gf2::Word source_base(std::uint64_t tile, std::uint64_t rank) const;
  gf2::Word target_base(std::uint64_t tile, std::uint64_t rank) const;
  const gf2::BitMatrix& source_basis() const { return source_basis_; }
  const gf2::BitMatrix& target_basis() const { return target_basis_; }

 private:
  gf2::Word image_of(std::uint64_t tile) const;
  gf2::Word first_of(std::uint64_t tile) const;
  gf2::Word coordinates(gf2::Word image) const;

  gf2::AffineMap map_;
  int block_bits_;
  gf2::Subspace target_space_;
  gf2::BitMatrix source_basis_, target_basis_;    // m columns each
  gf2::BitMatrix source_shifts_, target_shifts_;  // a column for each bit of the rank, without that bit
  gf2::BitMatrix tile_units_;                     // unit vectors of the source outside S, ascending
  gf2::BitMatrix matrix_;                         // of within()
  int source_run_ = 0, target_run_ = 0;
};

}  // namespace xorder::plan
