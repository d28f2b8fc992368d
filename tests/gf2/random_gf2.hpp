// Random matrices and maps for the tests of every layer.
#pragma once

#include <vector>

#include "seed.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::test {

/// Each entry 0 or 1 alike; of any rank.
inline gf2::BitMatrix random_matrix(Random& random, int rows, int columns) {
  std::vector<gf2::Word> c;
  for (int j = 0; j < columns; ++j) c.push_back(random() & gf2::low_mask(rows));
  return {rows, c};
}

/// Of rank at most `rank`: a product through that many bits.
inline gf2::BitMatrix random_matrix_of_rank_at_most(Random& random, int rows, int columns, int rank) {
  return random_matrix(random, rows, rank) * random_matrix(random, rank, columns);
}

/// Nonsingular, by rejection: at least 28% of all matrices are.
inline gf2::BitMatrix random_nonsingular(Random& random, int n) {
  for (;;) {
    const gf2::BitMatrix m = random_matrix(random, n, n);
    if (m.rank() == n) return m;
  }
}

inline gf2::AffineMap random_bmmc(Random& random, int n) {
  return {random_nonsingular(random, n), random() & gf2::low_mask(n)};
}

/// Degenerate sizes and the largest ones, then the ordinary.
inline const std::vector<int>& matrix_sizes() {
  static const std::vector<int> sizes = {0, 1, 2, 3, 5, 8, 13, 31, 32, 33, 62, 63, 64};
  return sizes;
}

}  // namespace xorder::test
