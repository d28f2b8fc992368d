#include "gf2/coset.hpp"

#include <gtest/gtest.h>

#include <set>

#include "plan/reference.hpp"

namespace xorder::plan {
namespace {

// The 4 × 4 transposition of coset.hpp: tiles for blocks of 2 are the 2 × 2 squares.
TEST(Coset, TilesOfASmallTranspositionAreSquares) {
  const gf2::CosetTiling tiling(bmmc::transpose(2, 2), 1, 1);
  EXPECT_EQ(tiling.bits(), 2);
  EXPECT_EQ(tiling.tile_count(), 4u);
  std::set<gf2::Word> first;
  for (gf2::Word h = 0; h < 4; ++h) first.insert(tiling.source_index(tiling.base(0), h));
  EXPECT_EQ(first, (std::set<gf2::Word>{0, 1, 4, 5}));
}

TEST(Coset, TileBitsIsBlockBitsPlusRankGamma) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 200; ++i) {
    const int n = random.in(0, 20), b = random.in(0, n);
    const auto map = test::any_map(random, n);
    EXPECT_EQ(tile_bits(map, b, b), b + gf2::rank_gamma(map.matrix, b));
  }
}

// Every index is in exactly one tile, on both sides; blocks are whole; and z = L h ⊕ z₀ says what the map
// says.
TEST(Coset, TilesPartitionBothSidesIntoWholeBlocks) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 150; ++i) {
    const int n = random.in(0, 11), b = random.in(0, n), c = random.in(0, n);
    const auto map = test::any_map(random, n);
    const gf2::CosetTiling tiling(map, b, c);
    std::vector<int> source_seen(std::size_t{1} << n), target_seen(std::size_t{1} << n);
    for (std::uint64_t t = 0; t < tiling.tile_count(); ++t) {
      const auto base = tiling.base(t);
      ASSERT_EQ(base.source & gf2::low_mask(b), 0u);
      ASSERT_EQ(base.target & gf2::low_mask(c), 0u);
      for (gf2::Word h = 0; h >> tiling.bits() == 0; ++h) {
        const gf2::Word x = tiling.source_index(base, h), z = tiling.local_map()(h) ^ base.local_offset;
        ASSERT_EQ(tiling.target_index(base, z), map(x));
        ASSERT_EQ(x & gf2::low_mask(b), h & gf2::low_mask(b));
        ++source_seen[x];
        ++target_seen[map(x)];
      }
    }
    ASSERT_TRUE(std::ranges::all_of(source_seen, [](int k) { return k == 1; }));
    ASSERT_TRUE(std::ranges::all_of(target_seen, [](int k) { return k == 1; }));
  }
}

TEST(Coset, SubtilesAreSpannedByTheFirstLocalBits) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    const int n = random.in(1, 12), b = random.in(0, n), c = random.in(0, n), piece = random.in(0, c);
    const auto map = test::any_map(random, n);
    const gf2::CosetTiling tiling(map, b, c);
    // The local images of the first bits must contain all of E_piece: pieces of 2^piece elements in target
    // runs.
    gf2::Subspace images;
    for (int j = 0; j < tiling.bits_of_subtile(piece); ++j) images.add(tiling.local_map().column(j));
    EXPECT_TRUE(images.contains(gf2::Subspace::low_bits(piece)));
  }
}

}  // namespace
}  // namespace xorder::plan
