// The BMMC permutations that have names: bit-matrix-multiply/complement, y = A x ⊕ c on n-bit indices
// (Cormen, Sundquist, Wisniewski, SIAM J. Comput. 28 (1998) 105-136).
//
// Each function returns the map from source index to target index: the element at x goes to position map(x).
// On eight elements a..h (n = 3), these are the targets:
//
//   source           a b c d e f g h
//   bit_reverse(3)   a e c g b f d h      x = x2 x1 x0 goes to x0 x1 x2
//   reverse(3)       h g f e d c b a      x goes to 7 − x
//   gray(3)          a b d c h g e f      x goes to x ⊕ (x >> 1): c, at 2, goes to 3
//   shuffle(3)       a e b f c g d h      the halves abcd and efgh interleaved
//   rotate(3, −1)    a c e g b d f h      its inverse: the even positions, then the odd ones
//
// In all of them 0 ≤ n ≤ max_bits; a function throws InputError if its arguments do not fit n. Cost: O(n²)
// word operations at most. Nothing here depends on the elements.
#pragma once

#include <span>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::bmmc {

using gf2::AffineMap;

/// The largest n: sizes of arrays are kept below 2^63.
inline constexpr int max_bits = 62;

AffineMap identity(int n);
/// The transposition of a row-major 2^lg_rows × 2^lg_cols matrix: r·2^lg_cols + c goes to c·2^lg_rows + r.
/// n = lg_rows + lg_cols.
AffineMap transpose(int lg_rows, int lg_cols);
/// Source bit i goes to target bit n−1−i.
AffineMap bit_reverse(int n);
/// Vector reversal: x goes to 2^n − 1 − x.
AffineMap reverse(int n);
/// The element at x goes to position x ⊕ (x >> 1), the reflected Gray code of x.
AffineMap gray(int n);
/// transpose(1, n−1): interleaves the two halves (a perfect shuffle). The identity for n = 0.
AffineMap shuffle(int n);
/// Source bit i goes to target bit (i + k) mod n; k may be negative, and of any size.
AffineMap rotate(int n, int k);
/// Row-major to Z order (Morton) for `dimensions` equal power-of-two dimensions, the last dimension's bits
/// lowest: target bit i·dimensions + k is bit i of the k-th dimension from the end. Requires dimensions ≥ 1
/// to divide n.
AffineMap morton(int n, int dimensions);
/// Target bit i is source bit sources[i]; n = sources.size(), and `sources` a permutation of 0 .. n−1.
AffineMap bits(std::span<const int> sources);
/// x goes to x ⊕ c; c < 2^n.
AffineMap exclusive_or(int n, gf2::Word c);

}  // namespace xorder::bmmc
