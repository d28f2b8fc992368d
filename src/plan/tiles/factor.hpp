// Factors of BMMC permutations that take more than one pass.
#pragma once

#include <vector>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::plan {

/// max(1, ⌈rank γ_b / (m−b)⌉): the passes that a map needs when memory holds 2^m elements and blocks have
/// 2^b. Requires 0 ≤ b, and b < m unless rank γ_b is 0.
int pass_count(const gf2::AffineMap& map, int b, int m);

/// The factors, in the order in which they are performed: their product (last · … · first) is the map. There
/// are pass_count(map, b, m) of them. Each has b + rank γ_b ≤ m, that is, tiles that fit in memory. If the
/// map permutes index bits, so does every factor. No factorisation into one-pass BMMC permutations has fewer
/// passes, since rank γ_b is subadditive; the published bound is ⌈rank γ_b/(m−b)⌉ + 2 (Cormen, Sundquist,
/// Wisniewski, SIAM J. Comput. 1998). Same requirement as pass_count. Cost: O(passes · n³) word operations.
std::vector<gf2::AffineMap> factor(const gf2::AffineMap& map, int b, int m);

/// Factors that can be performed where the data are, one after the other: ⌈rank γ_b / (m−b)⌉ + 1 of them.
/// Each but the last, A₁, has a space S ⊇ E_b with dim S ≤ m, A₁ S = S and A₁x ⊕ x ∈ S for all x. So it
/// permutes the elements of each coset of S among themselves. The last one has rank γ_b = 0: it moves whole
/// blocks, and may be the identity. If the map permutes index bits, so does every factor. Same requirement as
/// pass_count. (Cormen, Sundquist and Wisniewski need 2⌈rank γ_b/(m−b)⌉ + 7/2 passes, and 2^m elements of
/// scratch space.)
std::vector<gf2::AffineMap> factor_in_place(const gf2::AffineMap& map, int b, int m);

}  // namespace xorder::plan
