// Subspaces of GF(2)^n. xorder's tiles are cosets of them: see gf2/coset.hpp.
#pragma once

#include <span>
#include <vector>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::gf2 {

/// A subspace of GF(2)^64, kept as a reduced basis: each basis vector's highest bit (its pivot) is 0 in all
/// others. Two equal subspaces have equal bases. Every operation costs at most O(64²) word operations.
class Subspace {
 public:
  Subspace() = default;
  static Subspace span(std::span<const Word> vectors);
  /// E_b, spanned by the unit vectors e_0 .. e_{b−1}: the indices within a block of 2^b consecutive elements.
  static Subspace low_bits(int b);

  int dimension() const { return static_cast<int>(basis_.size()); }
  /// Ascending by pivot.
  const std::vector<Word>& basis() const { return basis_; }
  bool contains(Word x) const { return reduce(x) == 0; }
  bool contains(const Subspace& other) const;
  bool operator==(const Subspace&) const = default;

  /// Adds a vector; false if it was in the subspace already.
  bool add(Word x);
  /// The one member of the coset x + S that is 0 at every pivot.
  Word reduce(Word x) const;
  /// The bits that are a pivot.
  Word pivots() const;
  /// { A x : x in S }.
  Subspace image(const BitMatrix& a) const;

  friend Subspace operator+(Subspace a, const Subspace& b);
  friend Subspace intersection(const Subspace& a, const Subspace& b);

 private:
  std::vector<Word> basis_;
};

Subspace operator+(Subspace a, const Subspace& b);
Subspace intersection(const Subspace& a, const Subspace& b);

}  // namespace xorder::gf2
