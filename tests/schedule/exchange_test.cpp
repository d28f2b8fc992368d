#include "schedule/exchange.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "schedule/simulate.hpp"
#include "seed.hpp"
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
      const CheckReport report = test::expect_correct(Exchange(d, kind));
      EXPECT_EQ(report.steps, expected.first);
      EXPECT_EQ(report.crossings, expected.second);
    }
  }
}

TEST(Exchange, IsOptimalWithAllLinksBusyForEveryDimensionToTen) {
  for (int d = 0; d <= 10; ++d) {
    for (const auto kind : {Exchange::Kind::transposition, Exchange::Kind::bit_reversal}) {
      const CheckReport report = test::expect_correct(Exchange(d, kind));
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

ExchangeArray closed_form(int d) {
  ExchangeArray array{d, {}};
  for (std::uint64_t step = 0; step < exchange_steps(d); ++step) {
    for (const std::uint64_t w : row(step, d)) array.words.push_back(w);
  }
  return array;
}

TEST(ExchangeArrays, TheClosedFormMeetsTheConditions) {
  for (int d = 0; d <= 8; ++d) EXPECT_TRUE(conditions(closed_form(d)).hold()) << d;
}

// An array meets the conditions exactly if the checker is content with its schedule. One entry is changed, or
// two rows, two entries of a row or of a column are exchanged.
TEST(ExchangeArrays, ConditionsAreWhatTheCheckerFinds) {
  test::Random random;
  SEED_TRACE(random);
  int good = 0, bad = 0;
  for (int i = 0; i < 400; ++i) {
    const int d = random.in(1, 4);
    const auto columns = static_cast<std::size_t>(d);
    ExchangeArray array = closed_form(d);
    const auto any = [&] { return random.in(std::size_t{0}, array.words.size() - 1); };
    const std::size_t a = any(), b = any();
    switch (random.in(0, 4)) {
      case 0:
        array.words[a] = random.in(std::uint64_t{0}, (std::uint64_t{1} << d) - 1);
        break;
      case 1:  // within a row
        std::swap(array.words[a], array.words[a / columns * columns + b % columns]);
        break;
      case 2:  // within a column
        std::swap(array.words[a], array.words[b / columns * columns + a % columns]);
        break;
      case 3:  // rows
        for (std::size_t j = 0; j < columns; ++j) {
          std::swap(array.words[a / columns * columns + j], array.words[b / columns * columns + j]);
        }
        break;
      default:
        break;
    }
    const bool correct = check(Exchange(array, Exchange::Kind::transposition)).correct();
    EXPECT_EQ(conditions(array).hold(), correct) << "d " << d;
    EXPECT_EQ(check(Exchange(array, Exchange::Kind::bit_reversal)).correct(), correct);
    ++(correct ? good : bad);
  }
  EXPECT_GT(good, 50);
  EXPECT_GT(bad, 50);
}

TEST(ExchangeArrays, SayWhatIsWrong) {
  ExchangeArray array = closed_form(3);
  array.words[0] = 6;
  EXPECT_EQ(conditions({2, {1, 9}}).links, "w(0, 1) = 9 is not below 2^2");
  const ArrayConditions wrong = conditions(array);
  EXPECT_EQ(wrong.links, "w(0, 0) = 6 does not cross dimension 0");
  EXPECT_EQ(wrong.rows, "row 0 has 6 twice");
  EXPECT_EQ(wrong.columns, "column 0 lacks 3");
  EXPECT_THROW(Exchange(ExchangeArray{3, {1, 2}}, Exchange::Kind::transposition), InputError);
  EXPECT_THROW(Exchange(ExchangeArray{1, {2}}, Exchange::Kind::transposition), InputError);
  EXPECT_THROW(Exchange(ExchangeArray{0, {2}}, Exchange::Kind::transposition), InputError);
}

}  // namespace
}  // namespace xorder::schedule
