// The table of a routing has the sums that its strips need, and its lists have all elements.
#include "plan/tiles/routing.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "seed.hpp"

namespace xorder::plan {
namespace {

TEST(Routing, EachStripHasAsManyElementsForAChunkAsTheChunkHasOfTheStrip) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    const int levels = random.in(0, 4);
    const auto size = [&](std::uint64_t most) { return random.in(std::uint64_t{1}, most); };
    const std::uint64_t count = random.in(0, 1) == 0 ? 1 : size(9);
    const Routing r{{count, size(60), size(60), 1}, size(40) << levels, levels};
    const std::uint64_t n = r.chunks(), columns = r.what.columns, matrix = r.what.rows * columns;
    const RoutingTable table(r);
    std::vector<bool> seen(r.what.elements());
    std::vector<std::uint64_t> to(n * r.strips());
    for (std::uint64_t k = 0; k < n; ++k) {
      std::vector<std::uint64_t> from(r.strips());
      for (std::uint64_t d = 0; d < n; ++d) {
        std::uint64_t all = 0;
        r.for_some(k, d, [&](const Routing::Some& some) {
          all += some.count;
          ASSERT_TRUE(some.source_step == 1 || some.target_step == 1);
          for (std::uint64_t e = 0; e < some.count; ++e) {
            const std::uint64_t x = some.source + e * some.source_step, within = x % matrix;
            const std::uint64_t y = x - within + within % columns * r.what.rows + within / columns;
            ASSERT_EQ(some.target + e * some.target_step, y);
            ASSERT_EQ(x / r.chunk, k);
            ASSERT_EQ(y / r.chunk, d);
            ASSERT_FALSE(seen[x]);
            seen[x] = true;
          }
        });
        for (std::uint64_t q = 0; q < r.strips(); ++q) {
          from[q] += table(q, k, d);
          to[q * n + d] += table(q, k, d);
          all -= table(q, k, d);
        }
        ASSERT_EQ(all, 0u);
      }
      for (std::uint64_t q = 0; q < r.strips(); ++q)
        ASSERT_EQ(from[q], r.part_begin(k, q + 1) - r.part_begin(k, q));
    }
    for (std::uint64_t d = 0; d < n; ++d) {
      for (std::uint64_t q = 0; q < r.strips(); ++q)
        ASSERT_EQ(to[q * n + d], r.part_begin(d, q + 1) - r.part_begin(d, q));
    }
    ASSERT_EQ(std::ranges::count(seen, false), 0);
  }
}

}  // namespace
}  // namespace xorder::plan
