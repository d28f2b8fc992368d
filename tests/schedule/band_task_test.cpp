#include "schedule/banded/band_task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "schedule/banded/banded.hpp"
#include "schedule/bounds.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

Routed binary_gray(int d, const Diagonals& band, int beta) {
  return Routed(d, band.width(), band_task(d, band, {binary_gray_assignment(d, beta)}));
}

// d = 7, B = 35: the closed form for the padded band takes 32 steps, the paper's bound of the real one is 19.
TEST(BandTask, BoundsOfRealBands) {
  EXPECT_EQ(band_bound(7, 5, Diagonals::of_width(35)), 19u);
  EXPECT_EQ(binary_gray(7, Diagonals::of_width(35), 5).steps(), 19u);
  EXPECT_EQ(band_crossings(7, 5, Diagonals::of_width(35)), 12312u);
  EXPECT_EQ(band_crossings(7, 5, {32, 32}), 24704u);
}

// The closed form of the bound against the task, packet by packet; full bands against banded.hpp.
TEST(BandTask, ClosedFormsAreWhatTheTaskNeeds) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 200; ++i) {
    const int d = random.in(1, 8);
    const uint64_t n = uint64_t{1} << d, back = random.in(uint64_t{0}, n - 1);
    const Diagonals band{back, random.in(uint64_t{0}, n - 1 - back)};
    const int beta = random.in(0, d);
    const auto task = band_task(d, band, {binary_gray_assignment(d, beta)});
    const uint64_t reach = std::max(band.back, band.ahead);
    EXPECT_EQ(band_crossings(d, beta, band), task_crossings(task));
    // Other widths have no carry through all of c1, or more than one link of the ring.
    if (band.width() == 1 || reach <= uint64_t{1} << beta) {
      EXPECT_EQ(band_bound(d, beta, band), task_bound(task, d)) << d << " " << beta << " " << reach;
    }
  }
  for (int d = 1; d <= 10; ++d) {
    for (int beta = 0; beta < d - 1; ++beta) {
      const uint64_t reach = uint64_t{1} << beta;
      EXPECT_EQ(band_bound(d, beta, {reach, reach}), banded_bound(d, beta, 1)) << d << " " << beta;
    }
  }
}

// From the definition: a[i, c] starts in column c and ends in column i, in the slot of the transposed band.
TEST(BandTask, TransposesAnyBandWithAnyAssignment) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 60; ++i) {
    const int d = random.in(1, 5);
    const uint64_t n = uint64_t{1} << d, back = random.in(uint64_t{0}, n - 1);
    const Diagonals band{back, random.in(uint64_t{0}, n - 1 - back)};
    const auto assignment = random.in(0, 2) == 0   ? binary_assignment(d)
                            : random.in(0, 1) == 0 ? best_affine_assignment(d, band).map
                                                   : binary_gray_assignment(d, random.in(0, d));
    const Routed routed(d, band.width(), band_task(d, band, {assignment}), {.effort = 50});
    test::expect_correct(routed);
    const auto content = test::carried(routed);
    for (uint64_t c = 0; c < n; ++c) {
      for (uint64_t s = 0; s < band.width(); ++s) {
        const uint64_t row = (c + s - band.back) & (n - 1);
        const uint64_t from = assignment(c) * routed.slots() + s;
        const uint64_t to = assignment(row) * routed.slots() + band.width() - 1 - s;
        if (row != c) {
          ASSERT_EQ(content[to], from);
        }
      }
    }
  }
}

// For every bandwidth the bound is reached, by the search or in closed form.
TEST(BandTask, EveryBandwidthToSixDimensionsReachesItsBound) {
  for (int d = 2; d <= 6; ++d) {
    for (uint64_t width = 2; width < uint64_t{1} << d; ++width) {
      const int beta = beta_of_bandwidth(width, d);
      const Diagonals band = Diagonals::of_width(width);
      const uint64_t bound = band_bound(d, beta, band), closed = Banded(d, beta).steps();
      if (closed == bound) continue;
      const Routed routed = binary_gray(d, band, beta);
      EXPECT_EQ(routed.steps(), bound) << d << " " << width;
      EXPECT_TRUE(check(routed).correct()) << d << " " << width;
    }
  }
}

// No affine assignment of a small matrix has a smaller largest column sum than the one that is found.
TEST(BandTask, BestAffineAssignmentOfSmallMatrices) {
  for (uint64_t width = 2; width <= 8; ++width) {
    const Diagonals band = Diagonals::of_width(width);
    uint64_t least = ~uint64_t{0};
    const auto largest_sum = [&](const gf2::AffineMap& a) {
      std::vector<uint64_t> sums(3, 0);
      for (const Packet& p : band_task(3, band, {a})) {
        for (uint64_t j = 0; j < 3; ++j) sums[j] += (p.from.node ^ p.to.node) >> j & 1;
      }
      return *std::ranges::max_element(sums);
    };
    for (uint64_t columns = 0; columns < 512; ++columns) {
      const gf2::AffineMap a{gf2::BitMatrix(3, {columns & 7, columns >> 3 & 7, columns >> 6}), 0};
      if (a.matrix.rank() == 3) least = std::min(least, largest_sum(a));
    }
    const AffineAssignment best = best_affine_assignment(3, band);
    EXPECT_EQ(largest_sum(best.map), least) << width;
    EXPECT_EQ(best.bound, (least + 7) / 8) << width;
  }
}

// Sums of binomials against distances, node by node; no assignment is below it.
TEST(BandTask, UniversalBound) {
  for (int d = 0; d <= 8; ++d) {
    const uint64_t n = uint64_t{1} << d;
    std::vector<int> distances;
    for (uint64_t v = 0; v < n; ++v) distances.push_back(std::popcount(v));
    std::ranges::sort(distances);
    uint64_t sum = 0;
    for (uint64_t width = 1; width <= n; ++width) {
      sum += static_cast<uint64_t>(distances[width - 1]);
      const auto links = static_cast<uint64_t>(std::max(d, 1));
      // Three columns next to each other are partners of each other, and no three nodes are neighbours.
      const auto farthest =
          std::max(static_cast<uint64_t>(distances[width - 1]), uint64_t{width >= 4 ? 2U : 0U});
      EXPECT_EQ(universal_band_bound(d, width), std::max((sum + links - 1) / links, farthest));
      EXPECT_EQ(universal_band_bound(d, width, 3), std::max((3 * sum + links - 1) / links, farthest));
      if (width >= 2 && width < n) {
        const int beta = beta_of_bandwidth(width, d);
        EXPECT_LE(universal_band_bound(d, width), band_bound(d, beta, Diagonals::of_width(width)));
      }
    }
  }
  EXPECT_THROW(universal_band_bound(3, 9), InputError);
  EXPECT_THROW(universal_band_bound(3, 0), InputError);
}

TEST(BandTask, EntropyAndItsInverse) {
  EXPECT_EQ(binary_entropy(0), 0);
  EXPECT_EQ(binary_entropy(1), 0);
  EXPECT_EQ(binary_entropy(0.5), 1);
  EXPECT_EQ(inverse_binary_entropy(0), 0);
  EXPECT_NEAR(inverse_binary_entropy(1), 0.5, 1e-7);  // H is flat there
  test::Random random;
  SEED_TRACE(random);
  double last = 0;
  for (int i = 0; i <= 1000; ++i) {
    const double x = i / 1000.0, inverse = inverse_binary_entropy(x);
    EXPECT_NEAR(binary_entropy(inverse), x, 1e-14);
    EXPECT_LE(last, inverse);
    EXPECT_LE(inverse, 0.5);
    last = inverse;
    const double fraction = std::uniform_real_distribution(0.0, 0.5)(random);
    EXPECT_NEAR(binary_entropy(1 - fraction), binary_entropy(fraction), 1e-14);
    EXPECT_NEAR(inverse_binary_entropy(binary_entropy(fraction)), fraction, 1e-7);
  }
}

// For every B; equal if B is 1 or all nodes.
TEST(BandTask, ClosedBoundIsBelowTheSum) {
  for (int d = 1; d <= 12; ++d) {
    const uint64_t n = uint64_t{1} << d;
    std::vector<int> distances;
    for (uint64_t v = 0; v < n; ++v) distances.push_back(std::popcount(v));
    std::ranges::sort(distances);
    double sum = 0, last = -1;
    for (uint64_t width = 1; width <= n; ++width) {
      sum += distances[width - 1];
      const double closed = closed_band_bound(d, width);
      EXPECT_LE(closed, sum / d * (1 + 1e-12)) << d << " " << width;
      EXPECT_GT(closed, last) << d << " " << width;
      last = closed;
    }
    EXPECT_NEAR(closed_band_bound(d, n), sum / d, sum * 1e-6);
    EXPECT_EQ(closed_band_bound(d, 1), 0);
  }
  EXPECT_EQ(closed_band_bound(0, 1), 0);
  EXPECT_THROW(closed_band_bound(3, 9), InputError);
  EXPECT_THROW(closed_band_bound(3, 0), InputError);
}

TEST(BandTask, ImpossibleBandsAreRefused) {
  EXPECT_THROW(band_task(3, {4, 4}, {binary_assignment(3)}), InputError);
  EXPECT_THROW(band_task(20, {100, 100}, {binary_assignment(20)}), InputError);
  EXPECT_THROW(best_affine_assignment(14, {1, 1}), InputError);
}

}  // namespace
}  // namespace xorder::schedule
