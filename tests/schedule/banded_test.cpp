#include "schedule/banded/banded.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sanitized.hpp"
#include "schedule/banded/band_placement.hpp"
#include "schedule/banded/band_task.hpp"
#include "schedule/banded/banded_batch.hpp"
#include "schedule/bounds.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using Tags = std::vector<std::uint64_t>;

TEST(Banded, OrderOfRelease) {
  EXPECT_EQ(Banded(4, 2).release(), (Tags{3, 1, 2, 0}));
  EXPECT_EQ(Banded(5, 3).release(), (Tags{7, 3, 5, 2, 6, 1, 4, 0}));
  EXPECT_EQ(Banded(3, 0).release(), (Tags{0}));
}

TEST(Banded, CrossingsOfSixteenColumns) {
  const std::vector<std::uint64_t> golden = {32, 80, 208, 512, 512};
  for (int beta = 0; beta <= 4; ++beta) {
    EXPECT_EQ(check(Banded(4, beta)).crossings, golden[static_cast<std::size_t>(beta)]);
  }
}

std::uint64_t crossings_by_formula(int d, int beta) {
  const auto n = std::uint64_t{1} << d, ring = std::uint64_t{1} << beta, b = static_cast<std::uint64_t>(beta);
  if (beta == d) return static_cast<std::uint64_t>(d) * n * n / 2;
  if (beta == d - 1) return n * (b + 1) * ring;
  return n * (b * ring + ring + 1);
}

// Optimal for every width, in 2^β steps; the formula for crossings also gives 32 for β = 0, N·(0 + 1 + 1).
TEST(Banded, OptimalForEveryDimensionToTenAndEveryBand) {
  for (int d = 0; d <= (test::sanitized ? 8 : 10); ++d) {
    for (int beta = 0; beta <= d; ++beta) {
      const Banded banded(d, beta);
      const CheckReport report = test::expect_correct(banded);
      EXPECT_EQ(report.steps, report.lower_bound);
      EXPECT_EQ(report.steps, beta < d ? std::uint64_t{1} << beta : (std::uint64_t{1} << d) / 2)
          << d << " " << beta;
      EXPECT_EQ(report.crossings, crossings_by_formula(d, beta)) << d << " " << beta;
      ASSERT_FALSE(testing::Test::HasFailure()) << d << " " << beta;
    }
  }
}

// From the definition: a[i, c], in column c's node, goes to column i's node, in the place of a[c, i]. The
// node of column c = c2·2^β + c1 is c1 above the Gray code of c2.
TEST(Banded, TransposesTheBand) {
  for (int d = 0; d <= 7; ++d) {
    for (int beta = 0; beta <= d; ++beta) {
      const std::int64_t n = std::int64_t{1} << d, ring = std::int64_t{1} << beta;
      const std::int64_t below = std::min(ring, n / 2), above = std::min(ring, (n - 1) / 2);
      const Banded banded(d, beta);
      ASSERT_EQ(banded.slots(), static_cast<std::uint64_t>(below + above + 1));
      const auto content = test::carried(banded);
      const auto place = [&](std::int64_t row, std::int64_t column) {  // of a[row, column]
        const std::int64_t c2 = column / ring, node = (column % ring) * (n / ring) + (c2 ^ c2 >> 1);
        return static_cast<std::size_t>(node * (below + above + 1) + (row - column + below + n) % n);
      };
      for (std::int64_t c = 0; c < n; ++c) {
        for (std::int64_t offset = -below; offset <= above; ++offset) {
          const std::int64_t i = (c + offset + n) % n;
          ASSERT_EQ(content[place(c, i)], place(i, c)) << d << " " << beta;
        }
      }
    }
  }
}

// The closed form with a narrower band: the real packets arrive, and nothing else is sent.
TEST(Banded, NarrowerBandsSendNothingEmpty) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 150; ++i) {
    const int d = random.in(1, 7), beta = random.in(0, d - 1);
    const std::uint64_t reach = std::uint64_t{1} << beta, n = std::uint64_t{1} << d;
    Diagonals band{random.in(std::uint64_t{0}, reach), random.in(std::uint64_t{0}, reach)};
    if (band.width() > n) band.back = n - 1 - band.ahead;
    const Banded banded(d, beta, band);
    const CheckReport report = test::expect_correct(banded);
    EXPECT_EQ(report.crossings, band_crossings(d, beta, band));
    ASSERT_FALSE(HasFailure()) << d << " " << beta << " " << band.back << " " << band.ahead;
  }
  EXPECT_EQ(Banded(7, 5, Diagonals::of_width(35)).total().crossings, 12312u);
  EXPECT_EQ(Banded(7, 5).total().crossings, 24704u);
  const Banded large(14, 13, Diagonals::of_width(9001));
  EXPECT_EQ(large.load(777), large.Schedule::load(777));
  EXPECT_EQ(large.load(7777), large.Schedule::load(7777));
  EXPECT_THROW(Banded(4, 2, {5, 4}), InputError);
  EXPECT_THROW(Banded(4, 4, {4, 4}), InputError);
}

TEST(Banded, AnyBandwidth) {
  const std::map<std::uint64_t, int> beta = {{2, 0}, {3, 0},  {4, 1},  {5, 1}, {6, 2},
                                             {9, 2}, {10, 3}, {17, 3}, {18, 4}};
  for (const auto& [bandwidth, expected] : beta)
    EXPECT_EQ(beta_of_bandwidth(bandwidth, 6), expected) << bandwidth;
  EXPECT_EQ(beta_of_bandwidth(63, 6), 5);
  EXPECT_THROW(beta_of_bandwidth(64, 6), InputError);
  EXPECT_THROW(beta_of_bandwidth(1, 6), InputError);
  EXPECT_THROW(beta_of_bandwidth(0, 6), InputError);
}

TEST(Banded, SeveralColumnsANode) {
  const auto blocks = band_of_blocks(33, 1000, 4);  // 62 columns a node: neighbours only
  EXPECT_EQ(blocks.half, 1u);
  EXPECT_EQ(blocks.beta, 0);
  EXPECT_EQ(band_of_blocks(61, 64, 4).half, 8u);  // 4 columns a node: 30 on either side are 8 blocks
  EXPECT_EQ(band_of_blocks(61, 64, 4).beta, 3);
  EXPECT_THROW(band_of_blocks(9, 15, 4), InputError);
  EXPECT_THROW(band_of_blocks(64, 64, 4), InputError);
  // A column a node is the plain case.
  for (std::uint64_t b = 2; b < 64; ++b)
    EXPECT_EQ(band_of_blocks(b, 64, 6).beta, beta_of_bandwidth(b, 6)) << b;
}

TEST(Banded, ImpossibleShapesAreRefused) {
  EXPECT_THROW(Banded(4, 5), InputError);
  EXPECT_THROW(Banded(4, -1), InputError);
  EXPECT_THROW(Banded(21, 2), InputError);
  EXPECT_THROW(Banded(-1, -1), InputError);
}

TEST(BandedBatch, TableOfTwoPhases) {
  struct Row {
    int d, beta, matrices;
    std::uint64_t steps, bound;
  };
  for (const Row& row : std::vector<Row>{{2, 1, 2, 4, 4},
                                         {3, 1, 3, 5, 5},
                                         {4, 2, 2, 8, 7},
                                         {5, 2, 2, 12, 7},
                                         {6, 3, 2, 16, 13},
                                         {7, 2, 3, 14, 8},
                                         {8, 4, 2, 32, 25}}) {
    const CheckReport report = test::expect_correct(BandedBatch(row.d, row.beta, row.matrices));
    EXPECT_EQ(report.steps, row.steps) << row.d;
    EXPECT_EQ(report.lower_bound, row.bound) << row.d;
  }
}

TEST(BandedBatch, EveryShapeToSevenDimensions) {
  for (int d = 2; d <= 7; ++d) {
    for (int beta = 1; beta < d; ++beta) {
      for (int k = 1; k * beta <= d; ++k) {
        const CheckReport report = test::expect_correct(BandedBatch(d, beta, k));
        EXPECT_EQ(report.crossings, static_cast<std::uint64_t>(k) * crossings_by_formula(d, beta));
      }
    }
  }
}

TEST(BandedInTurn, TakesAsLongAsItsMatrices) {
  for (int d = 1; d <= 6; ++d) {
    for (int beta = 0; beta < d; ++beta) {
      const std::uint64_t reach = std::uint64_t{1} << beta;
      for (const std::size_t k : {1, 2, 3}) {
        const BandedInTurn full(d, std::vector<BandOfNodes>(k, {beta, {reach, reach}}));
        EXPECT_EQ(test::expect_correct(full).steps, k << beta);
        EXPECT_EQ(full.lower_bound(), banded_bound(d, beta, static_cast<int>(k))) << d << " " << beta << " " << k;
        test::expect_correct(BandedInTurn(d, std::vector<BandOfNodes>(k, {beta, {reach - 1, reach / 2}})));
        ASSERT_FALSE(HasFailure()) << d << " " << beta << " " << k;
      }
    }
  }
  EXPECT_THROW(BandedInTurn(4, {}), InputError);
  EXPECT_THROW(BandedInTurn(-1, {{0, {1, 1}}}), InputError);
  EXPECT_THROW(BandedInTurn(4, {{2, {4, 4}}, {1, {4, 4}}}), InputError);
}

TEST(BandedInTurn, OfDifferentBands) {
  const BandedInTurn bands(4, {{2, {4, 3}}, {0, {1, 1}}, {4, whole_matrix(4)}, {1, {2, 0}}});
  EXPECT_EQ(test::expect_correct(bands).steps, 4U + 1U + 8U + 2U);
  EXPECT_EQ(bands.slots(), 9U + 3U + 16U + 5U);
  EXPECT_EQ(bands.rotation(3), (2 + 0 + 4) % 4);
}

// Every placement that was found: all matrices arrive, in the steps that are claimed, which no closed form
// has.
TEST(BandPlacement, ReachesWhatIsClaimed) {
  for (int d = 2; d <= 9; ++d) {
    for (int beta = 1; beta < d; ++beta) {
      for (int k = 2; k * beta <= d; ++k) {
        const auto found = found_placement(d, beta, k);
        ASSERT_TRUE(found) << d << " " << beta << " " << k;
        EXPECT_LE(found->steps, static_cast<std::uint64_t>(k) << beta);
        EXPECT_LE(found->steps, BandedBatch(d, beta, k).steps());
        if (d > 8) continue;  // longer than all others together
        std::vector<gf2::AffineMap> maps;
        for (const Placement& p : found->matrices) maps.push_back(placed(d, beta, p));
        ASSERT_EQ(maps.size(), static_cast<std::size_t>(k));
        const std::uint64_t reach = std::uint64_t{1} << beta;
        const Diagonals band = Diagonals{reach, reach}.once(d);
        const Routed routed(d, band.width() * maps.size(), band_task(d, band, maps));
        EXPECT_TRUE(check(routed).correct()) << d << " " << beta << " " << k;
        EXPECT_EQ(routed.steps(), found->steps) << d << " " << beta << " " << k;
      }
    }
  }
  EXPECT_FALSE(found_placement(9, 1, 1));
}

TEST(BandPlacement, OfThePaperIsRotation) {
  for (const auto& [d, beta, k] : std::vector<std::tuple<int, int, int>>{{5, 2, 2}, {7, 2, 3}, {6, 1, 6}}) {
    const auto maps = rotated_placement(d, beta, k);
    const BandedBatch batch(d, beta, k);
    for (int m = 0; m < k; ++m) {
      for (Node v = 0; v < std::uint64_t{1} << d; ++v) {
        EXPECT_EQ(maps[static_cast<std::size_t>(m)](batch.layout().column(v)), batch.rotated(v, m));
      }
    }
  }
  EXPECT_THROW(rotated_placement(4, 2, 3), InputError);
  EXPECT_THROW(rotated_placement(4, 0, 3), InputError);
}

TEST(BandedBatch, ImpossibleShapesAreRefused) {
  EXPECT_THROW(BandedBatch(4, 2, 3), InputError);
  EXPECT_THROW(BandedBatch(4, 2, 0), InputError);
  EXPECT_THROW(BandedBatch(4, 0, 1), InputError);
  EXPECT_THROW(BandedBatch(4, 4, 1), InputError);
  EXPECT_THROW(BandedBatch(21, 2, 2), InputError);
}

}  // namespace
}  // namespace xorder::schedule
