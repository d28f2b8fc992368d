#include "xorder/permutation/bmmc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "gf2/random_gf2.hpp"
#include "xorder/error.hpp"

namespace xorder::bmmc {
namespace {

using gf2::Word;
using test::Random;

// The letters a, b, c, ... after the permutation.
std::string moved_letters(const AffineMap& map) {
  std::string target(std::size_t{1} << map.bits(), '?');
  for (Word x = 0; x < target.size(); ++x) target[map(x)] = static_cast<char>('a' + x);
  return target;
}

std::vector<int> shuffled_bits(Random& random, int n) {
  std::vector<int> bits(static_cast<std::size_t>(n));
  std::iota(bits.begin(), bits.end(), 0);
  std::ranges::shuffle(bits, random);
  return bits;
}

// Every map there is for n bits, with random arguments.
std::vector<AffineMap> all_maps(Random& random, int n) {
  std::vector<AffineMap> maps = {identity(n), bit_reverse(n), reverse(n), gray(n), shuffle(n)};
  maps.push_back(rotate(n, random.in(-100, 100)));
  maps.push_back(bits(shuffled_bits(random, n)));
  maps.push_back(exclusive_or(n, random() & gf2::low_mask(n)));
  const int lg_rows = random.in(0, n);
  maps.push_back(transpose(lg_rows, n - lg_rows));
  for (int d = 1; d <= std::max(n, 1); ++d) {
    if (n % d == 0) maps.push_back(morton(n, d));
  }
  return maps;
}

// The table at the head of the header, each worked out by hand.
TEST(Bmmc, TheHeadersTable) {
  EXPECT_EQ(moved_letters(bit_reverse(3)), "aecgbfdh");
  EXPECT_EQ(moved_letters(reverse(3)), "hgfedcba");
  EXPECT_EQ(moved_letters(gray(3)), "abdchgef");
  EXPECT_EQ(moved_letters(shuffle(3)), "aebfcgdh");
  EXPECT_EQ(moved_letters(rotate(3, -1)), "acegbdfh");
}

TEST(Bmmc, EachIsAPermutationThatItsInverseUndoes) {
  Random random;
  SEED_TRACE(random);
  for (const int n : {0, 1, 2, 3, 4, 6, 8, 9}) {
    for (const AffineMap& map : all_maps(random, n)) {
      ASSERT_EQ(map.bits(), n);
      std::vector<bool> hit(std::size_t{1} << n);
      for (Word x = 0; x < hit.size(); ++x) {
        ASSERT_LT(map(x), hit.size());
        ASSERT_FALSE(hit[map(x)]);
        hit[map(x)] = true;
        ASSERT_EQ(map.inverse()(map(x)), x);
      }
    }
  }
}

TEST(Bmmc, TheLargestIndices) {
  Random random;
  SEED_TRACE(random);
  for (const int n : {61, 62}) {
    for (const AffineMap& map : all_maps(random, n)) {
      const Word x = random() & gf2::low_mask(n);
      EXPECT_EQ(map.inverse()(map(x)), x);
      EXPECT_EQ(map(x) & ~gf2::low_mask(n), 0u);
    }
  }
}

TEST(Bmmc, TransposeMovesRowsToColumns) {
  for (int lg_rows = 0; lg_rows <= 5; ++lg_rows) {
    for (int lg_cols = 0; lg_cols <= 5; ++lg_cols) {
      const AffineMap map = transpose(lg_rows, lg_cols);
      const Word rows = Word{1} << lg_rows;
      const Word cols = Word{1} << lg_cols;
      for (Word r = 0; r < rows; ++r) {
        for (Word c = 0; c < cols; ++c) ASSERT_EQ(map(r * cols + c), c * rows + r);
      }
    }
  }
}

TEST(Bmmc, BitReverseReversesTheDigits) {
  for (int n = 0; n <= 9; ++n) {
    for (Word x = 0; x < Word{1} << n; ++x) {
      Word y = 0;
      for (int i = 0; i < n; ++i) y = 2 * y + (x >> i) % 2;
      ASSERT_EQ(bit_reverse(n)(x), y);
    }
  }
}

TEST(Bmmc, ReverseGrayAndExclusiveOr) {
  for (int n = 0; n <= 9; ++n) {
    const Word size = Word{1} << n;
    for (Word x = 0; x < size; ++x) {
      ASSERT_EQ(reverse(n)(x), size - 1 - x);
      ASSERT_EQ(gray(n)(x), x ^ (x >> 1));
      ASSERT_EQ(exclusive_or(n, size / 3)(x), x ^ (size / 3));
    }
    // What makes it Gray's code: neighbours go to positions that differ in one bit.
    for (Word x = 0; x + 1 < size; ++x) ASSERT_TRUE(std::has_single_bit(gray(n)(x) ^ gray(n)(x + 1)));
  }
}

TEST(Bmmc, ShuffleInterleavesTheHalves) {
  for (int n = 1; n <= 9; ++n) {
    const Word half = Word{1} << (n - 1);
    for (Word i = 0; i < half; ++i) {
      ASSERT_EQ(shuffle(n)(i), 2 * i);
      ASSERT_EQ(shuffle(n)(half + i), 2 * i + 1);
    }
    EXPECT_EQ(shuffle(n), transpose(1, n - 1));
  }
  EXPECT_TRUE(shuffle(0).is_identity());
}

TEST(Bmmc, RotateIsCyclic) {
  for (int n = 1; n <= 9; ++n) {
    for (int k = -2 * n; k <= 2 * n; ++k) {
      for (int i = 0; i < n; ++i) ASSERT_EQ(rotate(n, k)(gf2::unit(i)), gf2::unit((i + k + 2 * n) % n));
      EXPECT_EQ(rotate(n, k) * rotate(n, -k), identity(n));
    }
  }
  EXPECT_TRUE(rotate(0, 3).is_identity());
  EXPECT_EQ(rotate(62, INT_MIN) * rotate(62, INT_MAX), rotate(62, -1));
}

// Z order of a 4 × 4 matrix, (row, column) -> position, row bits r1 r0 and column bits c1 c0 giving r1 c1 r0
// c0:
//
//    0  1  4  5
//    2  3  6  7
//    8  9 12 13
//   10 11 14 15
TEST(Bmmc, MortonByHand) {
  const std::vector<Word> z = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
  for (Word x = 0; x < 16; ++x) EXPECT_EQ(morton(4, 2)(x), z[x]);
}

TEST(Bmmc, MortonInterleavesTheCoordinates) {
  for (int d = 1; d <= 5; ++d) {
    for (int each = 0; each * d <= 12; ++each) {
      const int n = each * d;
      for (Word x = 0; x < Word{1} << n; ++x) {
        // Coordinates with dimension 0 slowest; then their bits, the last dimension's lowest.
        Word z = 0;
        for (int dimension = 0; dimension < d; ++dimension) {
          const int behind = d - 1 - dimension;
          const Word coordinate = (x >> (behind * each)) & gf2::low_mask(each);
          for (int i = 0; i < each; ++i) z |= (coordinate >> i & 1) << (i * d + behind);
        }
        ASSERT_EQ(morton(n, d)(x), z);
      }
    }
  }
  EXPECT_TRUE(morton(7, 1).is_identity());
  EXPECT_TRUE(morton(7, 7).is_identity());
}

TEST(Bmmc, BitsSaysWhereEachTargetBitComesFrom) {
  Random random;
  SEED_TRACE(random);
  for (const int n : {0, 1, 2, 5, 62}) {
    const std::vector<int> sources = shuffled_bits(random, n);
    const Word x = random() & gf2::low_mask(n);
    for (int i = 0; i < n; ++i) EXPECT_EQ(bits(sources)(x) >> i & 1, x >> sources[i] & 1);
  }
}

void expect_refused(const std::function<AffineMap()>& make, const std::string& text) {
  try {
    static_cast<void>(make());
    ADD_FAILURE() << "no exception that says " << text;
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(text));
  }
}

TEST(Bmmc, RefusesWhatDoesNotFit) {
  for (const int n : {-1, 63, INT_MIN, INT_MAX}) {
    for (const auto function : {identity, bit_reverse, reverse, gray, shuffle}) {
      expect_refused([&] { return function(n); }, "0 to 62 bits");
    }
    expect_refused([&] { return rotate(n, 1); }, "0 to 62 bits");
    expect_refused([&] { return morton(n, 1); }, "0 to 62 bits");
    expect_refused([&] { return exclusive_or(n, 0); }, "0 to 62 bits");
    expect_refused([&] { return transpose(n, 1); }, "0 to 62 bits");
    expect_refused([&] { return transpose(1, n); }, "0 to 62 bits");
  }
  expect_refused([] { return transpose(32, 31); }, "not 63");
  expect_refused([] { return exclusive_or(3, 8); }, "3 bits");
  expect_refused([] { return morton(20, 3); }, "20 bits, which is not a multiple of 3");
  expect_refused([] { return morton(20, 0); }, "at least 1");
  expect_refused([] { return bits(std::vector{0, 1, 1}); }, "bit 1 is named twice");
  expect_refused([] { return bits(std::vector{0, 3, 1}); }, "no bit 3");
  expect_refused([] { return bits(std::vector{-1}); }, "no bit -1");
  expect_refused([] { return bits(std::vector<int>(63, 0)); }, "0 to 62 bits");
}

}  // namespace
}  // namespace xorder::bmmc
