#include "gf2/subspace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "gf2/random_gf2.hpp"

namespace xorder::gf2 {
namespace {

using test::matrix_sizes;
using test::Random;

Subspace random_subspace(Random& random, int n, int vectors) {
  std::vector<Word> v;
  for (int i = 0; i < vectors; ++i) v.push_back(random() & low_mask(n));
  return Subspace::span(v);
}

// A random sum of basis vectors.
Word random_member(Random& random, const Subspace& s) {
  Word x = 0;
  for (const Word v : s.basis()) x ^= random.in(0, 1) ? v : 0;
  return x;
}

void expect_reduced(const Subspace& s) {
  EXPECT_TRUE(std::ranges::is_sorted(s.basis(), {}, [](Word v) { return std::bit_floor(v); }));
  for (const Word v : s.basis()) {
    EXPECT_NE(v, 0u);
    EXPECT_EQ(v & s.pivots(), std::bit_floor(v)) << "its own pivot and no other's";
  }
  EXPECT_EQ(std::popcount(s.pivots()), s.dimension());
}

// span{0b011, 0b110} = {000, 011, 110, 101}. Reduced: the pivots are bits 2 and 1; 0b110 has the pivot of
// 0b011 in it, so that it becomes 0b110 ^ 0b011 = 0b101.
TEST(Subspace, ReducesByHand) {
  const Subspace s = Subspace::span(std::vector<Word>{0b110, 0b011});
  EXPECT_EQ(s.basis(), (std::vector<Word>{0b011, 0b101}));
  EXPECT_EQ(s.pivots(), 0b110u);
  EXPECT_TRUE(s.contains(0b110));
  EXPECT_FALSE(s.contains(0b100));
  EXPECT_EQ(s.reduce(0b111), 0b001u);
}

TEST(Subspace, BasisIsReducedAndUniqueToTheSubspace) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const Subspace s = random_subspace(random, n, random.in(0, n + 2));
    expect_reduced(s);
    // Random sums span s once there are enough of them; s plus any of them is s.
    Subspace again;
    while (again.dimension() < s.dimension()) again.add(random_member(random, s));
    EXPECT_EQ(again, s);
  }
}

TEST(Subspace, AddTellsWhetherTheVectorWasNew) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    Subspace s = random_subspace(random, n, n / 2);
    const Word x = random() & low_mask(n);
    const bool inside = s.contains(x);
    const int before = s.dimension();
    EXPECT_EQ(s.add(x), !inside);
    EXPECT_EQ(s.dimension(), before + !inside);
    EXPECT_TRUE(s.contains(x));
    EXPECT_FALSE(s.add(x));
    EXPECT_FALSE(s.add(0));
    expect_reduced(s);
  }
}

TEST(Subspace, ReduceNamesTheCoset) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const Subspace s = random_subspace(random, n, random.in(0, n));
    const Word x = random() & low_mask(n);
    EXPECT_TRUE(s.contains(x ^ s.reduce(x)));
    EXPECT_EQ(s.reduce(x) & s.pivots(), 0u);
    EXPECT_EQ(s.reduce(x ^ random_member(random, s)), s.reduce(x));
    EXPECT_EQ(s.reduce(s.reduce(x)), s.reduce(x));
  }
}

TEST(Subspace, LowBits) {
  EXPECT_EQ(Subspace::low_bits(0), Subspace());
  EXPECT_EQ(Subspace::low_bits(64).dimension(), 64);
  EXPECT_TRUE(Subspace::low_bits(64).contains(~Word{0}));
  EXPECT_TRUE(Subspace::low_bits(5).contains(31));
  EXPECT_FALSE(Subspace::low_bits(5).contains(32));
  for (const int b : matrix_sizes()) expect_reduced(Subspace::low_bits(b));
}

TEST(Subspace, SumAndIntersectionHaveTheRightDimensions) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    for (int trial = 0; trial < 10; ++trial) {
      const Subspace common = random_subspace(random, n, random.in(0, n / 2));
      const Subspace a = common + random_subspace(random, n, random.in(0, n));
      const Subspace b = common + random_subspace(random, n, random.in(0, n / 2));
      const Subspace sum = a + b;
      const Subspace both = intersection(a, b);
      expect_reduced(sum);
      expect_reduced(both);
      EXPECT_TRUE(sum.contains(a) && sum.contains(b));
      EXPECT_TRUE(a.contains(both) && b.contains(both) && both.contains(common));
      // With the inclusions above this leaves no other subspaces.
      EXPECT_EQ(sum.dimension() + both.dimension(), a.dimension() + b.dimension());
      EXPECT_EQ(intersection(b, a), both);
      EXPECT_EQ(b + a, sum);
    }
  }
}

TEST(Subspace, IntersectionMemberByMember) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = random.in(0, 7);
    const Subspace a = random_subspace(random, n, random.in(0, n));
    const Subspace b = random_subspace(random, n, random.in(0, n));
    const Subspace both = intersection(a, b);
    for (Word x = 0; x <= low_mask(n); ++x) ASSERT_EQ(both.contains(x), a.contains(x) && b.contains(x));
  }
}

TEST(Subspace, ImageIsTheSetOfImages) {
  Random random;
  SEED_TRACE(random);
  for (const int n : matrix_sizes()) {
    const Subspace s = random_subspace(random, n, random.in(0, n));
    const BitMatrix a = test::random_matrix(random, random.in(0, 64), n);
    const Subspace image = s.image(a);
    expect_reduced(image);
    EXPECT_TRUE(image.contains(a(random_member(random, s))));
    EXPECT_LE(image.dimension(), s.dimension());
    EXPECT_EQ(Subspace::low_bits(n).image(a).dimension(), a.rank());
    const BitMatrix invertible = test::random_nonsingular(random, n);
    EXPECT_EQ(s.image(invertible).image(*invertible.inverse()), s);
  }
}

}  // namespace
}  // namespace xorder::gf2
