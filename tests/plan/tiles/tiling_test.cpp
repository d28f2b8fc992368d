#include "plan/tiles/tiling.hpp"

#include <gtest/gtest.h>

#include "plan/reference.hpp"
#include "plan/simulate.hpp"

namespace xorder::plan {
namespace {

// Any choice at all, sensible or not: the geometry must be right for each.
TileChoice random_choice(test::Random& random, const Reordering& what) {
  TileChoice choice;
  for (const std::uint64_t extent : what.extents) {
    choice.tile.push_back(random.in(0, 2) == 0 ? extent : random.in(std::uint64_t{1}, extent));
  }
  if (what.mapped) {
    const int n = what.map.bits();
    choice.tile[static_cast<std::size_t>(*what.mapped)] = 1;
    choice.source_low = random.in(0, n);
    choice.target_low = random.in(0, n);
    choice.group_low = random.in(0, choice.target_low);
  }
  choice.group = choice.tile;
  const auto split = random.in(std::uint64_t{0}, what.extents.size() - 1);
  choice.group[split] = random.in(std::uint64_t{1}, choice.tile[split]);
  return choice;
}

TEST(Tiling, EveryElementMovesOnceAndToItsPlaceForAnyChoice) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const Reordering what = canonical(test::random_reordering(random, 4));
    const Tiling tiling(what, random_choice(random, what));
    ASSERT_NO_FATAL_FAILURE(test::expect_performs(tiling)) << "case " << i;
  }
}

TEST(Tiling, NeighboursInTheTargetFollowEachOther) {
  Reordering what;
  what.extents = {6, 10};
  what.order = {1, 0};
  const Tiling tiling(what, TileChoice{{2, 5}, {2, 5}, 0, 0, 0});
  ASSERT_EQ(tiling.tile_count(), 6u);
  // The target has 10 rows of 6: tiles go along its rows first.
  EXPECT_EQ(tiling.tile(0).start, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(tiling.tile(1).start, (std::vector<std::uint64_t>{2, 0}));
  EXPECT_EQ(tiling.tile(3).start, (std::vector<std::uint64_t>{0, 5}));
}

}  // namespace
}  // namespace xorder::plan
