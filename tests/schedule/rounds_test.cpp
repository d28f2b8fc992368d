#include "schedule/rounds.hpp"

#include <gtest/gtest.h>

#include "plan/reference.hpp"
#include "schedule/simulate.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::schedule {
namespace {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Word;

// What a machine does with the factors, in memory: element x of the file begins as the number x. Returns the
// file.
std::vector<Word> performed(const Rounds& rounds, int n, int p) {
  const int low = n - p;
  const BitMatrix from_file = rounds.layout().inverse().value();
  const auto element = [&](Node k, Word place) { return from_file(k << low | place); };
  std::vector<std::vector<Word>> data(std::size_t{1} << p, std::vector<Word>(std::size_t{1} << low));
  for (Node k = 0; k < data.size(); ++k) {
    const AffineMap within = rounds.within(k);
    for (Word x = 0; x < data[k].size(); ++x) data[k][within(x)] = element(k, x);
  }
  const std::vector<std::vector<Word>> chunks = data;
  const Word chunk = Word{1} << rounds.lg_chunk();
  for (std::uint64_t round = 0; round < rounds.steps(); ++round) {
    for (Node k = 0; k < data.size(); ++k) {
      const Node sender = rounds.source(k, round);
      EXPECT_EQ(rounds.target(sender, round), k);
      const AffineMap scatter = rounds.scatter(sender, round);
      for (Word j = 0; j < chunk; ++j) data[k][scatter(j)] = chunks[sender][round * chunk + j];
    }
  }
  std::vector<Word> file(std::size_t{1} << n);
  for (Node k = 0; k < data.size(); ++k) {
    for (Word x = 0; x < data[k].size(); ++x) file[element(k, x)] = data[k][x];
  }
  return file;
}

void expect_performs(const AffineMap& map, int p, int f) {
  const int n = map.bits();
  SCOPED_TRACE(testing::Message() << "n = " << n << ", p = " << p << ", f = " << f);
  const Rounds rounds(map, p, f);
  ASSERT_EQ(rounds.steps(), std::uint64_t{1} << rounds.factors().rank);
  const std::vector<Word> file = performed(rounds, n, p);
  for (Word x = 0; x < file.size(); ++x) ASSERT_EQ(file[map(x)], x);
  test::expect_correct(rounds);
}

TEST(Rounds, EveryShapeToEightBitsOfManyMaps) {
  test::Random random;
  SEED_TRACE(random);
  for (int n = 0; n <= 8; ++n) {
    std::vector<AffineMap> maps = {bmmc::identity(n), bmmc::bit_reverse(n), bmmc::reverse(n), bmmc::gray(n),
                                   bmmc::shuffle(n)};
    for (int rows = 1; rows < n; ++rows) maps.push_back(bmmc::transpose(rows, n - rows));
    for (int i = 0; i < 4; ++i) maps.push_back(test::random_map(random, n));
    for (const AffineMap& map : maps) {
      for (int p = 0; p <= n; ++p) {
        for (int f = 0; f <= n - p; ++f) {
          expect_performs(map, p, f);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

struct Golden {
  int n, p, f;
  std::vector<AffineMap> maps;
  std::vector<std::array<std::uint64_t, 3>> expected;  // rank, rounds, messages
};

TEST(Rounds, TableOfNamedPermutations) {
  const auto maps = [](int n) {
    return std::vector<AffineMap>{bmmc::transpose(n / 2, n / 2),
                                  bmmc::transpose(2, n - 2),
                                  bmmc::bit_reverse(n),
                                  bmmc::gray(n),
                                  bmmc::reverse(n),
                                  bmmc::shuffle(n)};
  };
  const std::vector<Golden> table = {
      {6, 2, 4, maps(6), {{2, 4, 12}, {2, 4, 12}, {2, 4, 12}, {0, 1, 2}, {0, 1, 4}, {1, 2, 6}}},
      {8, 3, 5, maps(8), {{3, 8, 56}, {2, 4, 28}, {3, 8, 56}, {0, 1, 6}, {0, 1, 8}, {1, 2, 14}}},
      {8, 3, 0, maps(8), {{3, 8, 56}, {2, 4, 28}, {3, 8, 56}, {1, 2, 14}, {0, 1, 8}, {1, 2, 14}}}};
  for (const Golden& row : table) {
    for (std::size_t i = 0; i < row.maps.size(); ++i) {
      const Rounds rounds(row.maps[i], row.p, row.f);
      EXPECT_EQ(static_cast<std::uint64_t>(rounds.factors().rank), row.expected[i][0]);
      EXPECT_EQ(rounds.steps(), row.expected[i][1]);
      EXPECT_EQ(check(rounds).messages, row.expected[i][2]);
    }
  }
}

// Rounds in which nothing is sent do not count.
TEST(Rounds, ReachTheBound) {
  test::Random random;
  SEED_TRACE(random);
  const auto busy = [](const Rounds& rounds) {
    std::uint64_t count = 0;
    for (std::uint64_t round = 0; round < rounds.steps(); ++round) count += rounds.load(round).messages > 0;
    return count;
  };
  EXPECT_EQ(busy(Rounds(bmmc::transpose(3, 3), 3, 3)), 7U);
  for (int i = 0; i < 500; ++i) {
    const int n = random.in(0, 9), p = random.in(0, n);
    const Rounds rounds(test::random_map(random, n), p, random.in(0, n - p));
    EXPECT_EQ(busy(rounds), rounds.lower_bound()) << n << " " << p;
  }
}

// A = V W; W keeps processors; V is as the header draws it; T, R and Π have the forms that give them their
// names.
TEST(Rounds, FactorsHaveTheirForms) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const int n = random.in(1, 40), p = random.in(0, n), left = n - p;
    const AffineMap map = test::any_map(random, n);
    const RoundFactors f = factor_rounds(map, p);
    ASSERT_EQ(f.across * f.within, map.matrix);
    ASSERT_EQ(f.across, map.matrix * f.trailer * f.reducer * f.swapper);
    ASSERT_EQ(f.rank, gf2::rank_gamma(map.matrix, left));
    ASSERT_EQ(f.within.block(left, 0, p, left), BitMatrix::zero(p, left));
    ASSERT_EQ(f.within.block(left, left, p, p), BitMatrix::identity(p));
    ASSERT_EQ(f.across.block(left, 0, p, left - f.rank), BitMatrix::zero(p, left - f.rank));
    ASSERT_EQ(f.gamma_2.rank(), f.rank);
    ASSERT_EQ(f.delta * f.delta_inverse, BitMatrix::identity(p));
    ASSERT_TRUE(f.swapper.is_bit_permutation());
    ASSERT_EQ(f.trailer.block(0, 0, n, left), BitMatrix::identity(n).block(0, 0, n, left));
    ASSERT_EQ(f.reducer.block(0, left, n, p), BitMatrix::identity(n).block(0, left, n, p));
  }
}

TEST(Rounds, LayoutMovesTheProcessorNumberToTheTop) {
  EXPECT_EQ(processor_layout(6, 2, 4), BitMatrix::identity(6));
  EXPECT_EQ(processor_layout(6, 2, 0)(0b101101), Word{0b011011});  // processor 01 of place 1011
  EXPECT_EQ(processor_layout(5, 2, 1)(0b00110), Word{0b11000});
}

TEST(Rounds, ImpossibleShapesAreRefused) {
  const AffineMap map = bmmc::bit_reverse(8);
  EXPECT_THROW(Rounds(map, 9, 0), InputError);
  EXPECT_THROW(Rounds(map, -1, 0), InputError);
  EXPECT_THROW(Rounds(map, 3, 6), InputError);
  EXPECT_THROW(Rounds(map, 3, -1), InputError);
  EXPECT_THROW(Rounds(bmmc::bit_reverse(40), 21, 0), InputError);
  EXPECT_THROW(Rounds({BitMatrix::zero(4, 4), 0}, 2, 0), InputError);
}

}  // namespace
}  // namespace xorder::schedule
