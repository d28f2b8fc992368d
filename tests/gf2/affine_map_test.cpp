#include "xorder/gf2/affine_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gf2/random_gf2.hpp"
#include "gf2/subspace.hpp"
#include "xorder/error.hpp"

namespace xorder::gf2 {
namespace {

using test::matrix_sizes;
using test::Random;
using test::random_bmmc;

TEST(AffineMap, InverseUndoesOnBothSides) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const AffineMap p = random_bmmc(random, n);
    const AffineMap inverse = p.inverse();
    EXPECT_TRUE((inverse * p).is_identity());
    EXPECT_TRUE((p * inverse).is_identity());
    const Word x = random() & low_mask(n);
    EXPECT_EQ(inverse(p(x)), x);
    EXPECT_EQ(inverse.inverse(), p);
  }
}

TEST(AffineMap, ProductIsComposition) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const AffineMap p = random_bmmc(random, n);
    const AffineMap q = random_bmmc(random, n);
    const AffineMap s = random_bmmc(random, n);
    const Word x = random() & low_mask(n);
    EXPECT_EQ((p * q)(x), p(q(x)));
    EXPECT_EQ((p * q) * s, p * (q * s));
    EXPECT_EQ((p * q).inverse(), q.inverse() * p.inverse());
    EXPECT_EQ(p * AffineMap::identity(n), p);
    EXPECT_EQ(AffineMap::identity(n) * p, p);
  }
}

TEST(AffineMap, TheIdentityOfNoBits) {
  const AffineMap none = AffineMap::identity(0);
  EXPECT_EQ(none, AffineMap());
  EXPECT_TRUE(none.is_identity());
  EXPECT_EQ(none(0), 0u);
  EXPECT_EQ(none.inverse(), none);
  EXPECT_FALSE((AffineMap{BitMatrix::identity(1), 1}).is_identity());
}

TEST(AffineMap, SingularOnesNameTheirRank) {
  try {
    static_cast<void>(AffineMap{BitMatrix(3, {1, 2, 3}), 0}.inverse());
    FAIL() << "no exception";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("singular: its rank is 2, not 3"));
  }
  EXPECT_THROW(AffineMap::identity(2) * AffineMap::identity(3), InputError);
}

// THEORY.md: the rank of γ for 6 bits, blocks of 2^4: square transposition 2, 4 × 16 (rotate by 2) 2,
// reversal 2, Gray 0.
TEST(RankGamma, GoldenNumbers) {
  const auto rotation = [](int n, int k) {
    std::vector<int> target;
    for (int i = 0; i < n; ++i) target.push_back((i + k) % n);
    return BitMatrix::bit_permutation(target);
  };
  EXPECT_EQ(rank_gamma(rotation(6, 3), 4), 2);
  EXPECT_EQ(rank_gamma(rotation(6, 2), 4), 2);
  EXPECT_EQ(rank_gamma(BitMatrix::bit_permutation(std::vector{5, 4, 3, 2, 1, 0}), 4), 2);
  EXPECT_EQ(rank_gamma(BitMatrix(6, {1, 3, 6, 12, 24, 48}), 4), 0);
  EXPECT_EQ(rank_gamma(rotation(8, 1), 5), 1);
}

TEST(RankGamma, CountsTheTargetBlocksOfASourceBlock) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const BitMatrix a = test::random_nonsingular(random, n);
    const BitMatrix c = test::random_nonsingular(random, n);
    for (int b = 0; b <= n; ++b) {
      const int r = rank_gamma(a, b);
      // dim(E_b + A⁻¹E_b) = b + r: the size of a tile (DESIGN.md).
      const Subspace low = Subspace::low_bits(b);
      EXPECT_EQ((low + low.image(*a.inverse())).dimension(), b + r);
      EXPECT_LE(r, std::min(b, n - b));
      EXPECT_EQ(rank_gamma(*a.inverse(), b), r) << "what leaves the blocks must be replaced by as much";
      EXPECT_LE(rank_gamma(a * c, b), r + rank_gamma(c, b)) << "subadditive";
    }
  }
  EXPECT_EQ(rank_gamma(BitMatrix(), 0), 0);
}

}  // namespace
}  // namespace xorder::gf2
