#include "plan/choose.hpp"

#include <gtest/gtest.h>

#include "byte_units.hpp"
#include "rounding.hpp"
#include "seed.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

TEST(Choose, HalvesGoDownToTheLeast) {
  EXPECT_EQ(halves(100, 12), (std::vector<uint64_t>{100, 50, 25, 12}));
  EXPECT_EQ(halves(100, 100), std::vector<uint64_t>{100});
  EXPECT_EQ(halves(100, 1000), std::vector<uint64_t>{100});
  EXPECT_EQ(halves(3, 0), (std::vector<uint64_t>{3, 1}));
}

// Of those that take as long, the first one.
TEST(Choose, TakesTheFastestOfThoseThatExist) {
  const auto best = [](const std::vector<double>& seconds) {
    std::vector<uint64_t> all(seconds.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return choose(
        all, [&](uint64_t i) { return seconds[i] < 0 ? std::nullopt : std::optional(i); },
        [&](uint64_t i) { return seconds[i]; });
  };
  EXPECT_EQ(best({3, 1, 2}), 1u);
  EXPECT_EQ(best({3, 2, 2, 2}), 1u);
  EXPECT_EQ(best({-1, 5, -1, 4}), 3u);
  EXPECT_EQ(best({-1, -1}), std::nullopt);
  EXPECT_EQ(best({}), std::nullopt);
}

TEST(Choose, EnoughMemoryIsTheLeastThatDoes) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    const uint64_t memory = random.in(uint64_t{0}, 100 * MiB);
    const uint64_t needed = random.in(memory / MiB * MiB + 1, memory + GiB);
    const auto enough = enough_mebibytes(memory, [&](uint64_t some) { return some >= needed; });
    EXPECT_EQ(enough, ceil_div(needed, MiB));
  }
  EXPECT_EQ(enough_mebibytes(MiB, [](uint64_t) { return false; }), std::nullopt);
}

}  // namespace
}  // namespace xorder::plan
