#include "kernel/linear/line_gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "gf2/random_gf2.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using test::Random;

// Each line of each line tile lies where places() says, and no two lines overlap, whatever the parts in which
// the tile is copied.
void expect_gathered(const BitMatrix& map, int lg_element, TileShape shape, Random& random) {
  const LineTiles tiles = make_line_tiles(map, lg_element, shape);
  const std::uint64_t run_bytes = std::uint64_t{1} << (shape.source_bits + lg_element);
  const LineGather gather(tiles, run_bytes);
  ASSERT_EQ(gather.lines(), tiles.line_tiles.size() * tiles.source_lines.size());

  std::vector<std::byte> source(std::size_t{1} << (map.cols() + lg_element));
  for (std::byte& b : source) b = static_cast<std::byte>(random());
  std::vector<std::byte> buffer(gather.buffer_bytes());
  const std::uint64_t tile = random() % source.size() / run_bytes * run_bytes;
  NextGathered next(gather, source.data(), tile, buffer.data());
  const auto parts = static_cast<std::size_t>(random.in(1, 9));
  for (std::size_t part = 1; part <= parts; ++part) next.fetch_to(part, parts);

  std::set<std::uint32_t> places;
  const std::uint32_t* place = gather.places();
  for (const std::uint64_t line_tile : tiles.line_tiles) {
    for (const std::uint64_t line : tiles.source_lines) {
      const std::byte* const from = source.data() + (tile ^ line_tile ^ line);
      ASSERT_EQ(*place % line_bytes, 0U);
      ASSERT_LE(*place + line_bytes, buffer.size());
      ASSERT_TRUE(std::equal(from, from + line_bytes, buffer.data() + *place));
      places.insert(*place++);
    }
  }
  ASSERT_EQ(places.size(), gather.lines());
}

TEST(LineGather, CopiesEachLineToItsPlace) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const int lg_element = random.in(0, 4), line = 6 - lg_element, bits = random.in(2 * line, 2 * line + 6);
    const TileShape shape{random.in(line, line + 2), random.in(line, line + 2)};
    if (std::max(shape.source_bits, shape.target_bits) > bits) continue;
    const BitMatrix map =
        random.in(0, 1) == 0 ? bmmc::bit_reverse(bits).matrix : test::random_nonsingular(random, bits);
    expect_gathered(map, lg_element, shape, random);
    if (HasFatalFailure()) return;
  }
}

// Runs that lay at multiples of a power of two no longer begin at the same sets of a cache.
TEST(LineGather, LeavesALineFreeBetweenRuns) {
  const LineTiles tiles = make_line_tiles(bmmc::bit_reverse(20).matrix, 0, {8, 7});
  const LineGather gather(tiles, 256);
  EXPECT_EQ(gather.lines(), 128U * 4);
  EXPECT_EQ(gather.buffer_bytes(), 128 * (256 + line_bytes) - line_bytes);
}

}  // namespace
}  // namespace xorder::kernel
