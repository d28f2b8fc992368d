// The tile of a BMMC permutation: the one idea that xorder repeats at every level of the memory hierarchy.
//
// The source is read in blocks of 2^b elements, and the target is written in blocks of 2^b'. The elements of
// a source block are a coset of E_b; those that end up in one target block are a coset of A⁻¹E_b'. A tile is
// a coset of
//
//     S = E_b + A⁻¹E_b',   dim S = k,
//
// so it has 2^(k−b) whole source blocks and 2^(k−b') whole target blocks, and no other tile touches these.
// Example, the transposition of a 4 × 4 matrix (n = 4, A exchanges bits 0,1 with bits 2,3) with b = b' = 1: S
// is spanned by e_0 and A⁻¹e_0 = e_2, a tile is a 2 × 2 square: 2 source blocks of 2, 2 target blocks of 2.
//
// Inside a tile, elements are numbered twice: by a local source index h, whose low b bits count within a
// block and whose upper bits count blocks, and by a local target index z in the same way. z = L h ⊕ z₀ with
// one L for all tiles.
#pragma once

#include "gf2/subspace.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::gf2 {

/// dim(E_b + A⁻¹E_b'): lg of the number of elements of a tile with these block sizes.
int tile_bits(const AffineMap& map, int source_low, int target_low);
/// The same, given A⁻¹; or for an injective A and an E_b' in its image, given the inverse on the image.
int tile_bits(const BitMatrix& inverse, int source_low, int target_low);

/// The tiles of one map for given block sizes; immutable.
class CosetTiling {
 public:
  /// Requires 0 ≤ source_low, target_low ≤ map.bits() and a nonsingular map.
  CosetTiling(AffineMap map, int source_low, int target_low);

  const AffineMap& map() const { return map_; }
  /// k: a tile has 2^k elements.
  int bits() const { return source_basis_.cols(); }
  std::uint64_t tile_count() const { return std::uint64_t{1} << (map_.bits() - bits()); }
  /// L, k × k.
  const BitMatrix& local_map() const { return local_map_; }
  /// How many low bits of h span E_b + A⁻¹E_c, for c ≤ target_low: the sub-tiles whose target pieces have 2^c
  /// elements.
  int bits_of_subtile(int target_piece_low) const;

  struct Base {
    Word source = 0;        ///< x of h = 0; its low source_low bits are 0
    Word target = 0;        ///< y of z = 0; its low target_low bits are 0
    Word local_offset = 0;  ///< z₀
  };
  /// Tile number `index`, in ascending order of target blocks. O(n) word operations.
  Base base(std::uint64_t index) const;
  /// The element that h (z) stands for.
  Word source_index(const Base& base, Word h) const;
  Word target_index(const Base& base, Word z) const;

 private:
  AffineMap map_;
  AffineMap inverse_;
  int source_low_;
  BitMatrix source_basis_;
  BitMatrix target_basis_;
  BitMatrix local_map_;
  BitMatrix tile_units_;  // unit vectors of the target that are 0 in A S, ascending
};

}  // namespace xorder::gf2
