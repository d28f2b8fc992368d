#include "plan/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "gf2/random_gf2.hpp"
#include "plan/tiles/common_tiling.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::plan {
namespace {

using gf2::AffineMap;
using gf2::Word;
using std::uint64_t;
using test::Random;

Word combined(std::span<const Word> basis, Word base, uint64_t j) {
  for (std::size_t i = 0; i < basis.size(); ++i) {
    if (j >> i & 1) base ^= basis[i];
  }
  return base;
}

// Carries out the tiles, number by number: every element comes to the place of its image, and none is
// forgotten.
void expect_moves(const CommonTiling& tiling, const AffineMap& map, int p) {
  const int b = map.bits() - p, m = tiling.bits();
  std::set<Word> moved;
  for (uint64_t tile = 0; tile < tiling.tiles(); ++tile) {
    const AffineMap within = tiling.within(tile);
    ASSERT_EQ(within.bits(), m + p);
    for (uint64_t x = 0; x < uint64_t{1} << (m + p); ++x) {
      const uint64_t from = x >> m, j = x & gf2::low_mask(m);
      const uint64_t y = within(x), to = y >> m, l = y & gf2::low_mask(m);
      const Word source = combined(tiling.source_basis().columns(), tiling.source_base(tile, from), j);
      const Word target = combined(tiling.target_basis().columns(), tiling.target_base(tile, to), l);
      ASSERT_LT(source, Word{1} << b);
      ASSERT_LT(target, Word{1} << b);
      ASSERT_EQ(map(from << b | source), to << b | target);
      ASSERT_TRUE(moved.insert(from << b | source).second);
    }
  }
  ASSERT_EQ(moved.size(), uint64_t{1} << map.bits());
}

void expect_runs(const CommonTiling& tiling) {
  for (int i = 0; i < tiling.source_run(); ++i) ASSERT_EQ(tiling.source_basis().column(i), gf2::unit(i));
  for (int i = 0; i < tiling.target_run(); ++i) ASSERT_EQ(tiling.target_basis().column(i), gf2::unit(i));
  ASSERT_EQ(tiling.source_base(tiling.tiles() - 1, 0) & gf2::low_mask(tiling.source_run()), 0u);
  ASSERT_EQ(tiling.target_base(tiling.tiles() - 1, 0) & gf2::low_mask(tiling.target_run()), 0u);
}

TEST(CommonTiling, EveryElementComesToThePlaceOfItsImage) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 200; ++i) {
    const int n = random.in(0, 10), p = random.in(0, n), m = random.in(0, n - p);
    const AffineMap map = test::random_bmmc(random, n);
    const int s = random.in(0, m), t = random.in(0, m);
    const auto space = common_space(map, p, m, s, t);
    if (!space) {
      // Runs that fit together in a part always find room, and so do those that are one element long.
      ASSERT_GT(s + t, m);
      continue;
    }
    const CommonTiling tiling(map, p, *space);
    ASSERT_EQ(tiling.bits(), m);
    ASSERT_GE(tiling.source_run(), s);
    ASSERT_GE(tiling.target_run(), t);
    expect_runs(tiling);
    expect_moves(tiling, map, p);
  }
}

TEST(CommonTiling, TheExampleOfTheHeader) {
  const AffineMap map = parse_expression("transpose(2,2)", 4);
  const auto space = common_space(map, 1, 2, 1, 1);
  ASSERT_TRUE(space);
  EXPECT_EQ(*space, gf2::Subspace::span(std::vector<Word>{0b0001, 0b0100, 0b1010}));
  EXPECT_EQ(CommonTiling(map, 1, *space).tiles(), 2u);
  EXPECT_FALSE(common_space(map, 1, 1, 1, 1));
}

TEST(PartsPlan, ItsPassesAreTheMap) {
  Random random;
  SEED_TRACE(random);
  int in_two_passes = 0;
  // Until one goes in two passes, as one of fifteen does.
  for (int i = 0; i < 40 || (in_two_passes == 0 && i < 1000); ++i) {
    const int n = random.in(0, 12), p = random.in(0, std::min(n, 4));
    const AffineMap map = test::random_bmmc(random, n);
    // Elements so large that few of them fit.
    const uint64_t element = uint64_t{1} << random.in(8, 18);
    const PartsPlan plan(map, element, p, {.memory = uint64_t{16} << 20, .device = Device::hdd()});
    EXPECT_LE(plan.pass().memory, uint64_t{16} << 20);
    AffineMap rest = map;
    if (plan.before()) {
      ++in_two_passes;
      ASSERT_EQ(plan.before()->bits(), n - p);
      std::vector<Word> columns = plan.before()->inverse().matrix.columns();
      for (int bit = n - p; bit < n; ++bit) columns.push_back(gf2::unit(bit));
      rest = map * AffineMap{gf2::BitMatrix(n, columns), 0};
      EXPECT_EQ(plan.tiling().source_run(), plan.tiling().bits());
    }
    expect_moves(plan.tiling(), rest, p);
    uint64_t sent = 0;
    for (Word x = 0; x < Word{1} << n; ++x) sent += x >> (n - p) != map(x) >> (n - p);
    EXPECT_EQ(plan.bytes_sent(), sent * element);
    EXPECT_EQ(plan.messages() * plan.message_bytes(), plan.bytes_sent());
  }
  EXPECT_GT(in_two_passes, 0);
}

TEST(PartsPlan, LongRunsWhereverThereIsMemory) {
  Random random;
  SEED_TRACE(random);
  for (const int p : {1, 3, 6, 10}) {
    const AffineMap map = test::random_bmmc(random, 37);
    const PartsPlan plan(map, 8, p, {.memory = uint64_t{1} << 30});
    EXPECT_LE(plan.pass().memory, uint64_t{1} << 30);
    EXPECT_GE(std::min(plan.pass().source_block_bytes, plan.pass().target_block_bytes), uint64_t{4} << 10)
        << p;
  }
}

TEST(PartsPlan, Refuses) {
  const AffineMap map = AffineMap::identity(3);
  const auto plan = [&](uint64_t element_bytes, int lg_ranks, uint64_t mebibytes) {
    return PartsPlan(map, element_bytes, lg_ranks, {.memory = mebibytes << 20});
  };
  EXPECT_THROW(plan(8, 4, 16), InputError);
  EXPECT_THAT(
      [&] { plan(uint64_t{8} << 20, 0, 16); },
      testing::ThrowsMessage<InputError>(testing::HasSubstr("too large for 16 MiB of memory; 30 MiB")));
  EXPECT_THROW(plan(uint64_t{8} << 20, 0, 29), InputError);
  EXPECT_NO_THROW(plan(uint64_t{8} << 20, 0, 30));
}

}  // namespace
}  // namespace xorder::plan
