#include "plan/tiles/factor.hpp"

#include <gtest/gtest.h>

#include "gf2/subspace.hpp"
#include "plan/reference.hpp"

namespace xorder::plan {
namespace {

using gf2::AffineMap;

AffineMap product(const std::vector<AffineMap>& factors, int n) {
  AffineMap all = AffineMap::identity(n);
  for (const AffineMap& f : factors) all = f * all;
  return all;
}

// n = 8, b = 4: the square transposition moves all four low bits out, rank γ = 4. With m = 5 each pass brings
// one of them to its place: ⌈4 / 1⌉ passes; with m = 6, two; with m = 8 a single one.
TEST(Factor, CountsOfASquareTransposition) {
  const AffineMap map = bmmc::transpose(4, 4);
  EXPECT_EQ(pass_count(map, 4, 5), 4);
  EXPECT_EQ(pass_count(map, 4, 6), 2);
  EXPECT_EQ(pass_count(map, 4, 8), 1);
  EXPECT_EQ(factor(map, 4, 5).size(), 4u);
}

TEST(Factor, ProductIsTheMapAndEveryFactorIsOnePass) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 400; ++i) {
    const int n = random.in(1, 16), b = random.in(0, n - 1), m = random.in(b + 1, n);
    const AffineMap map = test::any_map(random, n);
    const auto factors = factor(map, b, m);
    ASSERT_EQ(static_cast<int>(factors.size()), pass_count(map, b, m));
    ASSERT_EQ(product(factors, n), map);
    for (const AffineMap& f : factors) ASSERT_LE(b + gf2::rank_gamma(f.matrix, b), m);
    if (map.matrix.is_bit_permutation()) {
      for (const AffineMap& f : factors) ASSERT_TRUE(f.matrix.is_bit_permutation());
    }
  }
}

// Each factor but the last permutes the elements of a tile among themselves, whatever the tile.
TEST(Factor, InPlaceTilesStayUntilWholeBlocksMove) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 4000; ++i) {
    const int n = random.in(1, 16), b = random.in(0, n - 1), m = random.in(b + 1, n);
    const AffineMap map = test::any_map(random, n);
    const int rank = gf2::rank_gamma(map.matrix, b);
    const auto factors = factor_in_place(map, b, m);
    ASSERT_EQ(static_cast<int>(factors.size()), (rank + m - b - 1) / (m - b) + 1);
    ASSERT_EQ(product(factors, n), map);
    ASSERT_EQ(gf2::rank_gamma(factors.back().matrix, b), 0);
    for (std::size_t f = 0; f + 1 < factors.size(); ++f) {
      const gf2::BitMatrix& a = factors[f].matrix;
      const auto low = gf2::Subspace::low_bits(b);
      const gf2::Subspace tile = low + low.image(a);
      ASSERT_LE(tile.dimension(), m);
      ASSERT_EQ(tile.image(a), tile);
      ASSERT_EQ(factors[f].complement, 0u);
      for (int j = 0; j < n; ++j) ASSERT_TRUE(tile.contains(a.column(j) ^ gf2::unit(j)));
    }
    if (map.matrix.is_bit_permutation()) {
      for (const AffineMap& f : factors) ASSERT_TRUE(f.matrix.is_bit_permutation());
    }
  }
}

TEST(Factor, BlocksThatStayWholeNeedOnePassWhateverTheMemory) {
  const AffineMap map = bmmc::gray(10);
  EXPECT_EQ(gf2::rank_gamma(map.matrix, 10), 0);
  EXPECT_EQ(pass_count(map, 10, 10), 1);
  EXPECT_EQ(factor(map, 10, 10).size(), 1u);
}

}  // namespace
}  // namespace xorder::plan
