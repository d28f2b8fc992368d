#include "schedule/banded/bands_at_once.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "schedule/banded/band_task.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

// From the definition: what column c of each matrix has for column c + o is there at the end, at the
// schedule's goal for it.
void expect_transposed(int d, const std::vector<Diagonals>& bands, const BandsAtOnce& at_once) {
  const uint64_t n = uint64_t{1} << d, slots = at_once.schedule->slots();
  test::expect_correct(*at_once.schedule);
  const auto content = test::carried(*at_once.schedule);
  std::set<uint64_t> starts;
  ASSERT_EQ(at_once.bands.size(), bands.size());
  for (std::size_t m = 0; m < bands.size(); ++m) {
    const PlacedBand& band = at_once.bands[m];
    const uint64_t reach = std::max(bands[m].back, bands[m].ahead);
    const Diagonals all = reach > n / 2 ? whole_matrix(d) : bands[m].once(d);
    for (uint64_t c = 0; c < n; ++c) {
      for (uint64_t i = 0; i < all.width(); ++i) {
        const uint64_t offset = i - all.back;
        const Place from{band.node(c), band.slot(offset)};
        ASSERT_LT(from.slot, band.first_slot + band.width);
        EXPECT_EQ(band.offset(from.slot), offset & (n - 1));
        EXPECT_TRUE(starts.insert(from.node * slots + from.slot).second);
        const auto to = at_once.schedule->goal(from);
        ASSERT_TRUE(to);
        EXPECT_EQ(to->node, band.node((c + offset) & (n - 1)));
        ASSERT_EQ(content[to->node * slots + to->slot], from.node * slots + from.slot);
      }
    }
  }
}

TEST(BandsAtOnce, TransposeAnyBands) {
  test::Random random;
  SEED_TRACE(random);
  std::set<std::string> ways;
  for (int i = 0; i < 150; ++i) {
    const int d = random.in(0, 5);
    const uint64_t most = uint64_t{1} << random.in(0, d);
    std::vector<Diagonals> bands(random.in(1U, 5U));
    for (Diagonals& band : bands) {
      band = {random.in(uint64_t{0}, most), random.in(uint64_t{0}, most)};
      if (random.in(0, 1) == 1) band = {most / 2, most / 2};
    }
    const BandsAtOnce at_once = bands_at_once(d, bands, random.in(0, 3) == 0 ? 0 : Routed::max_crossings);
    ASSERT_NO_FATAL_FAILURE(expect_transposed(d, bands, at_once)) << "d " << d << ", " << bands.size();
    EXPECT_LE(at_once.schedule->steps(), at_once.steps_in_turn);
    ways.insert(at_once.way);
  }
  EXPECT_TRUE(ways.contains("one after another"));
  EXPECT_TRUE(ways.contains("search"));
}

// The steps of docs/schedules.md, where the same bands are shown.
TEST(BandsAtOnce, AlikeOnesTakeTheStepsThatWereFound) {
  for (const auto& [d, beta, k, steps] : {std::array{4, 1, 3, 5}, {5, 2, 2, 6}, {6, 1, 3, 4}, {6, 2, 2, 5}}) {
    const uint64_t reach = uint64_t{1} << beta;
    const BandsAtOnce at_once =
        bands_at_once(d, std::vector(static_cast<std::size_t>(k), Diagonals{reach, reach}));
    EXPECT_EQ(at_once.schedule->steps(), static_cast<uint64_t>(steps)) << d << " " << beta << " " << k;
    EXPECT_EQ(at_once.steps_in_turn, static_cast<uint64_t>(k) << beta);
  }
}

TEST(BandsAtOnce, DifferentBandsShareTheLinks) {
  const std::vector<Diagonals> bands{{1, 1}, {4, 4}, {2, 2}};
  const BandsAtOnce at_once = bands_at_once(6, bands);
  EXPECT_EQ(at_once.steps_in_turn, 1U + 4U + 2U);
  EXPECT_LT(at_once.schedule->steps(), at_once.steps_in_turn);
  EXPECT_GE(at_once.schedule->steps(), band_bound(6, 2, bands[1]));
}

TEST(BandsAtOnce, TwoPhasesWhereASearchIsTooMuch) {
  const std::vector bands(5, Diagonals{2, 2});
  const BandsAtOnce at_once = bands_at_once(5, bands, 0);
  EXPECT_EQ(at_once.way, "two phases");
  EXPECT_EQ(at_once.schedule->steps(), 9U);
  EXPECT_EQ(at_once.steps_in_turn, 10U);
  expect_transposed(5, bands, at_once);
}

TEST(BandsAtOnce, ASingleBandIsNotWorseThanTheClosedForm) {
  const Diagonals band = Diagonals::of_width(35);
  EXPECT_EQ(bands_at_once(7, std::vector{band}).schedule->steps(), 19U);
  EXPECT_EQ(bands_at_once(7, std::vector{band}, 0).schedule->steps(), 32U);
}

TEST(BandsAtOnce, NoneIsRefused) {
  EXPECT_THROW(bands_at_once(3, {}), InputError);
  EXPECT_THROW(bands_at_once(21, std::vector{Diagonals{1, 1}}), InputError);
}

}  // namespace
}  // namespace xorder::schedule
