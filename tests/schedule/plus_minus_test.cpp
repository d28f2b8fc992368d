#include "schedule/descend/plus_minus.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "schedule/descend/descend.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using Iteration = Recurrence::Iteration;

TEST(PlusMinus, FourStepsForEachIterationAndTwoForNeighbours) {
  for (int n = 1; n <= 9; ++n) {
    for (const bool ascending : {false, true}) {
      const PlusMinus all(n, Recurrence::all(n, 0, ascending).iterations);
      const CheckReport report = test::expect_correct(all);
      EXPECT_EQ(report.steps, 4 * static_cast<std::uint64_t>(n) - 2);
      // As many messages as Hu's schedule of one element a node.
      EXPECT_EQ(report.messages, Descend(n, 0, Descend::Order::descend).total().messages);
      EXPECT_EQ(report.crossings, report.messages);
    }
  }
}

TEST(PlusMinus, AnyIterationsInAnyOrder) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < 200; ++round) {
    const int n = random.in(1, 7);
    std::vector<Iteration> iterations(random.in(std::size_t{0}, std::size_t{6}));
    std::uint64_t steps = 0;
    for (Iteration& one : iterations) {
      one = {random.in(0, n - 1), random.in(0, 1) == 1, random.in(0, 1) == 1};
      steps += (one.plus + one.minus) * (one.b == 0 ? 1u : 2u);
    }
    EXPECT_EQ(test::expect_correct(PlusMinus(n, iterations)).steps, steps);
    ASSERT_FALSE(testing::Test::HasFailure()) << n;
  }
}

// The functions PM2I, from their definition: what arrives in slot 1 of i + 2^j is what i has in slot 0.
TEST(PlusMinus, ASingleFunctionIsAShift) {
  const auto gray = [](std::uint64_t x) { return x ^ x >> 1; };
  for (int n = 1; n <= 8; ++n) {
    const std::uint64_t mask = (std::uint64_t{1} << n) - 1;
    for (int j = 0; j < n; ++j) {
      for (const bool forwards : {true, false}) {
        const PlusMinus one(n, {{j, !forwards, forwards}});
        EXPECT_EQ(one.steps(), j == 0 ? 1u : 2u);
        const auto content = test::carried(one);
        for (std::uint64_t i = 0; i <= mask; ++i) {
          const std::uint64_t to = (forwards ? i + (1u << j) : i - (1u << j)) & mask;
          ASSERT_EQ(content[gray(to) * 3 + (forwards ? 1 : 2)], gray(i) * 3);
        }
      }
    }
  }
}

TEST(PlusMinus, ImpossibleOnesAreRefused) {
  EXPECT_THROW(PlusMinus(3, {{3}}), InputError);
  EXPECT_THROW(PlusMinus(3, {{-1}}), InputError);
  EXPECT_THROW(PlusMinus(21, {}), InputError);
  EXPECT_EQ(PlusMinus(0, {}).steps(), 0u);
}

}  // namespace
}  // namespace xorder::schedule
