#include "kernel/linear/tile_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gf2/left_inverse.hpp"
#include "gf2/random_gf2.hpp"
#include "gf2/sums.hpp"
#include "gf2/coset.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using gf2::low_mask;
using gf2::Word;
using test::Random;

// An injective map whose image contains E_target, and a shape that is possible for it.
struct Shaped {
  BitMatrix map;
  TileShape shape;
};

Shaped random_case(Random& random) {
  const int rows = random.in(0, 12), columns = random.in(0, rows), target = random.in(0, columns);
  gf2::Subspace image = gf2::Subspace::low_bits(target);
  std::vector<Word> vectors = image.basis();
  while (image.dimension() < columns) {
    const Word v = random() & low_mask(rows);
    if (image.add(v)) vectors.push_back(v);
  }
  const BitMatrix map = BitMatrix(rows, vectors) * test::random_nonsingular(random, columns);
  return {map, {random.in(0, columns), target}};
}

TEST(TileWalk, VisitsEachElementOnceWithItsImage) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const auto [map, shape] = random_case(random);
    const BitMatrix inverse = gf2::left_inverse(map);
    const Word complement = random() & low_mask(map.rows());
    const TileWalk walk(map, complement, shape, std::uint64_t{1} << random.in(0, 4));
    ASSERT_EQ(walk.tile_bits(), gf2::tile_bits(inverse, shape.source_bits, shape.target_bits));
    ASSERT_EQ(walk.tiles() << walk.tile_bits(), Word{1} << map.cols());
    gf2::Subspace tile = gf2::Subspace::low_bits(shape.source_bits);
    for (int t = 0; t < shape.target_bits; ++t) tile.add(inverse.column(t));
    std::vector<int> visits(std::size_t{1} << map.cols());
    TileWalk::Place place = walk.at(0);
    for (std::uint64_t index = 0; index < walk.tiles(); ++index, walk.advance(place)) {
      EXPECT_EQ(place.index, index);
      EXPECT_EQ(place.source, walk.at(index).source);
      EXPECT_EQ(place.source & low_mask(shape.source_bits), 0U);
      EXPECT_EQ(place.target, map(place.source) ^ complement);
      for (const Word x : gf2::sums(tile.basis(), place.source)) ++visits[x];
    }
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
  }
}

TEST(TileShape, IsPossibleAndWithinItsLimits) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const auto [map, most] = random_case(random);
    const BitMatrix inverse = gf2::left_inverse(map);
    const std::uint64_t element = random.in(std::uint64_t{1}, std::uint64_t{40});
    const auto bytes = [&](TileShape s) {
      return element << gf2::tile_bits(inverse, s.source_bits, s.target_bits);
    };
    const TileShape small = tile_shape(inverse, element, 256, 128, most);
    const TileShape large = largest_shape(inverse, element, 1024, 8192, most);
    for (const TileShape s : {small, large}) {
      EXPECT_LE(s.source_bits, most.source_bits);
      EXPECT_LE(s.target_bits, most.target_bits);
    }
    EXPECT_LE(bytes(large), 8192U);
    EXPECT_LE(element << std::max(large.source_bits, large.target_bits), 1024U);
    EXPECT_TRUE(small.source_bits == most.source_bits || element << (small.source_bits + 1) > 256 ||
                bytes({small.source_bits + 1, small.target_bits}) > 2048);
  }
}

}  // namespace
}  // namespace xorder::kernel
