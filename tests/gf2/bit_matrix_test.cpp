#include "xorder/gf2/bit_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "gf2/random_gf2.hpp"
#include "xorder/error.hpp"

namespace xorder::gf2 {
namespace {

using test::matrix_sizes;
using test::Random;
using test::random_matrix;
using test::random_nonsingular;

// The rank by counting: 2^rank vectors are in the image. For up to 12 columns.
int rank_by_counting(const BitMatrix& a) {
  std::vector<Word> image;
  for (Word x = 0; x <= low_mask(a.cols()); ++x) image.push_back(a(x));
  std::ranges::sort(image);
  const auto distinct = std::unique(image.begin(), image.end()) - image.begin();
  return std::countr_zero(static_cast<Word>(distinct));
}

// The example in the header:
//
//   0 1 0     x = 0b011 has source bits 0 and 1 set.
//   1 0 0     Row 0: bit 1 = 1. Row 1: bit 0 = 1. Row 2: bit 1 ^ bit 2 = 1 ^ 0 = 1. So y = 0b111.
//   0 1 1
TEST(BitMatrix, AppliesTheHeadersExample) {
  const BitMatrix a(3, {0b010, 0b101, 0b100});
  EXPECT_EQ(a(0b011), 0b111u);
  EXPECT_TRUE(a.at(0, 1));
  EXPECT_FALSE(a.at(0, 0));
  EXPECT_EQ(a.rank(), 3);
  EXPECT_FALSE(a.is_bit_permutation());
  EXPECT_EQ(a.block(1, 0, 2, 2), BitMatrix(2, {0b01, 0b10}));
}

TEST(BitMatrix, LowMaskUnitAndParity) {
  EXPECT_EQ(low_mask(0), 0u);
  EXPECT_EQ(low_mask(63), ~Word{0} >> 1);
  EXPECT_EQ(low_mask(64), ~Word{0});
  EXPECT_EQ(unit(63), Word{1} << 63);
  EXPECT_EQ(parity(0), 0u);
  EXPECT_EQ(parity(unit(63) | 1), 0u);
  EXPECT_EQ(parity(0b10110), 1u);
}

TEST(BitMatrix, IsLinear) {
  Random random;
  SEED_TRACE(random);
  for (const int rows : matrix_sizes()) {
    for (const int cols : matrix_sizes()) {
      const BitMatrix a = random_matrix(random, rows, cols);
      const Word x = random() & low_mask(cols);
      const Word y = random() & low_mask(cols);
      EXPECT_EQ(a(x ^ y), a(x) ^ a(y));
      EXPECT_EQ(a(0), 0u);
      // Row i of A x is the parity of what row i of A selects of x.
      for (int i = 0; i < rows; ++i) {
        Word row = 0;
        for (int j = 0; j < cols; ++j) row |= Word{a.at(i, j)} << j;
        ASSERT_EQ(a(x) >> i & 1, parity(row & x));
      }
    }
  }
}

TEST(BitMatrix, ProductIsComposition) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const int k = random.in(0, 64);
    const int m = random.in(0, 64);
    const BitMatrix a = random_matrix(random, m, k);
    const BitMatrix b = random_matrix(random, k, n);
    const BitMatrix c = random_matrix(random, n, m);
    const Word x = random() & low_mask(n);
    EXPECT_EQ((a * b)(x), a(b(x)));
    EXPECT_EQ((a * b) * c, a * (b * c));
    EXPECT_EQ(a * BitMatrix::identity(k), a);
    EXPECT_EQ(BitMatrix::identity(m) * a, a);
    EXPECT_EQ(a * BitMatrix::zero(k, n), BitMatrix::zero(m, n));
  }
}

TEST(BitMatrix, InverseUndoesOnBothSides) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const BitMatrix a = random_nonsingular(random, n);
    const auto inverse = a.inverse();
    ASSERT_TRUE(inverse) << n;
    EXPECT_EQ(*inverse * a, BitMatrix::identity(n));
    EXPECT_EQ(a * *inverse, BitMatrix::identity(n));
    EXPECT_EQ(inverse->inverse(), a);
    EXPECT_EQ(a.rank(), n);
  }
}

TEST(BitMatrix, OnlyNonsingularSquareMatricesHaveAnInverse) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    EXPECT_EQ(random_matrix(random, n, n == 64 ? 63 : n + 1).inverse(), std::nullopt);
    if (n == 0) continue;
    const BitMatrix singular = test::random_matrix_of_rank_at_most(random, n, n, random.in(0, n - 1));
    EXPECT_EQ(singular.inverse(), std::nullopt);
    EXPECT_LT(singular.rank(), n);
  }
  EXPECT_EQ(BitMatrix().inverse(), BitMatrix());
}

TEST(BitMatrix, RankIsTheDimensionOfTheImage) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 200; ++trial) {
    const int rows = random.in(0, 10);
    const int cols = random.in(0, 10);
    const BitMatrix a = test::random_matrix_of_rank_at_most(random, rows, cols, random.in(0, 10));
    EXPECT_EQ(a.rank(), rank_by_counting(a));
  }
  EXPECT_EQ(BitMatrix::zero(64, 64).rank(), 0);
  EXPECT_EQ(BitMatrix::identity(64).rank(), 64);
}

TEST(BitMatrix, RankIsUnchangedByNonsingularFactors) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const BitMatrix a = test::random_matrix_of_rank_at_most(random, n, n, random.in(0, n));
    EXPECT_EQ((random_nonsingular(random, n) * a * random_nonsingular(random, n)).rank(), a.rank());
  }
}

TEST(BitMatrix, SolveFindsAPreimageExactlyWhenThereIsOne) {
  Random random;
  SEED_TRACE(random);
  for (const int rows : matrix_sizes()) {
    for (const int cols : matrix_sizes()) {
      const BitMatrix a = test::random_matrix_of_rank_at_most(random, rows, cols, random.in(0, cols));
      const Word y = a(random() & low_mask(cols));
      const auto x = a.solve(y);
      ASSERT_TRUE(x);
      EXPECT_EQ(a(*x), y);
      EXPECT_EQ(*x & ~low_mask(cols), 0u);
      // y is in the image exactly if A with the column y added has no larger rank.
      const Word any = random() & low_mask(rows);
      if (cols == 64) continue;
      std::vector<Word> with_any = a.columns();
      with_any.push_back(any);
      EXPECT_EQ(a.solve(any).has_value(), BitMatrix(rows, with_any).rank() == a.rank());
    }
  }
}

TEST(BitMatrix, BlocksPutTogetherAgain) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const BitMatrix a = random_matrix(random, n, n);
    const int row = random.in(0, n);
    const int col = random.in(0, n);
    std::vector<Word> columns;
    for (int j = 0; j < n; ++j) {
      const bool left = j < col;
      const int first = left ? 0 : col;
      const int width = left ? col : n - col;
      const Word top = a.block(0, first, row, width).column(j - first);
      const Word bottom = a.block(row, first, n - row, width).column(j - first);
      columns.push_back(row == 64 ? top : top | bottom << row);
    }
    EXPECT_EQ(BitMatrix(n, columns), a);
    EXPECT_EQ(a.block(0, 0, n, n), a);
    EXPECT_EQ(a.block(n, n, 0, 0), BitMatrix());
  }
}

TEST(BitMatrix, BitPermutationMovesEachBit) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    std::vector<int> target(static_cast<std::size_t>(n));
    std::iota(target.begin(), target.end(), 0);
    std::ranges::shuffle(target, random);
    const BitMatrix a = BitMatrix::bit_permutation(target);
    EXPECT_TRUE(a.is_bit_permutation());
    for (int i = 0; i < n; ++i) EXPECT_EQ(a(unit(i)), unit(target[i]));
    EXPECT_TRUE(a.inverse()->is_bit_permutation());
  }
  EXPECT_FALSE(BitMatrix(2, {1, 1}).is_bit_permutation());
  EXPECT_FALSE(BitMatrix(2, {1, 3}).is_bit_permutation());
  EXPECT_FALSE(BitMatrix(2, {1, 0}).is_bit_permutation());
  EXPECT_FALSE(BitMatrix(3, {1, 2}).is_bit_permutation());
}

TEST(BitMatrix, RefusesWhatIsNoMatrix) {
  EXPECT_THROW(BitMatrix(2, {0, 4}), InputError);
  EXPECT_THROW(BitMatrix(0, {1}), InputError);
  EXPECT_THROW(BitMatrix(65, {}), InputError);
  EXPECT_THROW(BitMatrix(-1, {}), InputError);
  EXPECT_THROW(BitMatrix(1, std::vector<Word>(65)), InputError);
  EXPECT_THROW(BitMatrix::identity(-1), InputError);
  EXPECT_THROW(BitMatrix::identity(65), InputError);
  EXPECT_THROW(BitMatrix::zero(1, -1), InputError);
  EXPECT_THROW(BitMatrix::identity(2) * BitMatrix::identity(3), InputError);
  EXPECT_THROW(BitMatrix::bit_permutation(std::vector{0, 0}), InputError);
  EXPECT_THROW(BitMatrix::bit_permutation(std::vector{0, 2}), InputError);
  EXPECT_THROW(BitMatrix::bit_permutation(std::vector{-1, 0}), InputError);
  std::vector<int> too_many(65);
  std::iota(too_many.begin(), too_many.end(), 0);
  EXPECT_THROW(BitMatrix::bit_permutation(too_many), InputError);
}

}  // namespace
}  // namespace xorder::gf2
