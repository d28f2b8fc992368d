#include "kernel/linear/line_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "gf2/random_gf2.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::kernel {
namespace {

using test::Random;

// Each line of each line tile once, in ascending order.
TEST(LineTiles, SourceOffsetsAreAllLinesInOrder) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const int lg_element = random.in(0, 4), line = 6 - lg_element, bits = random.in(2 * line, 2 * line + 6);
    const TileShape shape{random.in(line, std::min(bits, line + 2)),
                          random.in(line, std::min(bits, line + 2))};
    const gf2::BitMatrix map =
        random.in(0, 1) == 0 ? bmmc::bit_reverse(bits).matrix : test::random_nonsingular(random, bits);
    const LineTiles tiles = make_line_tiles(map, lg_element, shape);
    std::vector<std::uint64_t> lines;
    for (const std::uint64_t line_tile : tiles.line_tiles) {
      for (const std::uint64_t source_line : tiles.source_lines) lines.push_back(line_tile ^ source_line);
    }
    std::ranges::sort(lines);
    ASSERT_EQ(source_offsets(tiles), lines);
  }
}

}  // namespace
}  // namespace xorder::kernel
