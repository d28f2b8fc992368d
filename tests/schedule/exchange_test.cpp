#include "xorder/schedule/exchange.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "schedule/simulate.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::schedule {
namespace {

using Row = std::vector<std::uint64_t>;

Row row(std::uint64_t step, int d) {
  Row words;
  for (int j = 0; j < d; ++j) words.push_back(exchanged_word(step, j, d));
  return words;
}

TEST(Exchange, TablesOfWords) {
  EXPECT_EQ(row(0, 3), (Row{3, 6, 4}));
  EXPECT_EQ(row(1, 3), (Row{1, 7, 6}));
  EXPECT_EQ(row(2, 3), (Row{7, 2, 5}));
  EXPECT_EQ(row(3, 3), (Row{5, 3, 7}));
  EXPECT_EQ(row(0, 5), (Row{3, 6, 12, 24, 16}));
  EXPECT_EQ(row(15, 5), (Row{29, 27, 23, 15, 31}));
}

// The conditions from which everything follows; also for dimensions whose exchange cannot be simulated.
TEST(Exchange, WordsCrossEachOfTheirDimensionsOnce) {
  for (int d = 1; d <= 16; ++d) {
    std::vector<int> occurrences(std::size_t{1} << d);
    std::vector<std::vector<bool>> in_column(static_cast<std::size_t>(d),
                                             std::vector<bool>(std::size_t{1} << d));
    for (std::uint64_t step = 0; step < exchange_steps(d); ++step) {
      const Row words = row(step, d);
      ASSERT_EQ(std::set<std::uint64_t>(words.begin(), words.end()).size(), words.size());
      for (std::size_t j = 0; j < words.size(); ++j) {
        ASSERT_TRUE(words[j] >> j & 1);
        ASSERT_FALSE(in_column[j][words[j]]);
        in_column[j][words[j]] = true;
        ++occurrences[words[j]];
      }
    }
    for (std::uint64_t w = 0; w < occurrences.size(); ++w) ASSERT_EQ(occurrences[w], std::popcount(w));
  }
}

TEST(Exchange, StepsAndCrossings) {
  const std::map<int, std::pair<std::uint64_t, std::uint64_t>> golden = {
      {1, {1, 2}}, {2, {2, 16}}, {3, {4, 96}}, {4, {8, 512}}, {5, {16, 2560}}, {6, {32, 12288}}};
  for (const auto& [d, expected] : golden) {
    for (const auto kind : {Exchange::Kind::transposition, Exchange::Kind::bit_reversal}) {
      const Report report = test::expect_correct(Exchange(d, kind));
      EXPECT_EQ(report.steps, expected.first);
      EXPECT_EQ(report.crossings, expected.second);
    }
  }
}

TEST(Exchange, IsOptimalWithAllLinksBusyForEveryDimensionToTen) {
  for (int d = 0; d <= 10; ++d) {
    for (const auto kind : {Exchange::Kind::transposition, Exchange::Kind::bit_reversal}) {
      const Report report = test::expect_correct(Exchange(d, kind));
      EXPECT_EQ(report.steps, report.lower_bound);
      for (const std::uint64_t crossings : report.step_crossings) ASSERT_EQ(crossings, report.links);
    }
  }
}

// Against the permutation layer: content at index (node, slot) must end where the map sends it.
TEST(Exchange, PerformsTheNamedPermutations) {
  for (int d = 0; d <= 7; ++d) {
    const auto transposed = test::carried(Exchange(d, Exchange::Kind::transposition));
    const auto reversed = test::carried(Exchange(d, Exchange::Kind::bit_reversal));
    for (std::uint64_t x = 0; x >> (2 * d) == 0; ++x) {
      ASSERT_EQ(transposed[bmmc::transpose(d, d)(x)], x);
      ASSERT_EQ(reversed[bmmc::bit_reverse(2 * d)(x)], x);
    }
  }
}

TEST(Exchange, OfTwentyDimensionsIsDescribedWithoutBeingMade) {
  const Exchange exchange(20, Exchange::Kind::transposition);
  EXPECT_EQ(exchange.steps(), std::uint64_t{1} << 19);
  EXPECT_EQ(exchange.total().crossings, std::uint64_t{20} << 39);
  EXPECT_THROW(check(exchange), InputError);
  EXPECT_THROW(Exchange(21, Exchange::Kind::transposition), InputError);
  EXPECT_THROW(Exchange(-1, Exchange::Kind::bit_reversal), InputError);
}

}  // namespace
}  // namespace xorder::schedule
