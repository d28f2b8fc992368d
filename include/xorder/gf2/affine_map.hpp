// y = A x ⊕ c: the maps of which every BMMC permutation is one.
#pragma once

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::gf2 {

/// An affine map of GF(2)^n. It is a permutation of 0 .. 2^n − 1 exactly when A is nonsingular.
struct AffineMap {
  BitMatrix matrix;
  Word complement = 0;

  static AffineMap identity(int n) { return {BitMatrix::identity(n), 0}; }

  int bits() const { return matrix.cols(); }
  Word operator()(Word x) const { return matrix(x) ^ complement; }
  bool operator==(const AffineMap&) const = default;
  bool is_identity() const { return *this == identity(bits()); }
  /// Throws InputError, naming the rank, if the matrix is singular.
  AffineMap inverse() const;
};

/// The composition: b first, then a. Throws InputError if their sizes differ.
AffineMap operator*(const AffineMap& a, const AffineMap& b);

/// γ_b, the lower left (n−b) × b part of A. Its rank says how many bits of a source block's inner index leave
/// the block: 2^rank target blocks are touched by each source block.
int rank_gamma(const BitMatrix& a, int b);

}  // namespace xorder::gf2
