#include "schedule/routed/isotropic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "gf2/random_gf2.hpp"
#include "schedule/bounds.hpp"
#include "schedule/hypercube_bound.hpp"
#include "schedule/simulate.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using Tags = std::vector<gf2::Word>;

void expect_optimal(const Tags& tags, int d) {
  const Isotropic task(tags, d);
  const CheckReport report = test::expect_correct(task);
  EXPECT_EQ(report.steps, isotropic_bound(tags, d));
  if (!tags.empty()) {
    EXPECT_EQ(report.steps, test::hypercube_bound(task));
  }
  std::uint64_t ones = 0;
  for (const gf2::Word t : tags) ones += static_cast<std::uint64_t>(std::popcount(t));
  EXPECT_EQ(report.crossings, ones << d);
}

// The header's example: tags 110 and 011, columns in the order of dimensions 0, 1, 2.
TEST(Isotropic, TwoTagsInTwoSteps) {
  const Isotropic task({0b011, 0b110}, 3);
  ASSERT_EQ(task.steps(), 2u);
  for (std::uint64_t step = 0; step < 2; ++step) {
    int used = 0;
    for (int j = 0; j < 3; ++j) used += task.packet(step, j) >= 0;
    EXPECT_EQ(used, 2);
  }
}

TEST(Isotropic, DegenerateTasksTakeNoStepsOrOne) {
  expect_optimal({}, 3);
  expect_optimal({0, 0, 0}, 4);
  expect_optimal({0}, 0);
  expect_optimal({1}, 1);
  EXPECT_EQ(Isotropic({}, 5).steps(), 0u);
  EXPECT_EQ(Isotropic({0, 0}, 0).steps(), 0u);
}

TEST(Isotropic, RowsDecideOrColumnsDo) {
  expect_optimal({0b11111}, 5);        // one packet across all dimensions
  expect_optimal({1, 1, 1, 1, 1}, 5);  // five packets across one
  expect_optimal(Tags(7, 0b11), 2);    // repeated tags
}

// All tags: the total exchange, in as many steps as Edelman's.
TEST(Isotropic, TotalExchange) {
  for (int d = 1; d <= 8; ++d) {
    Tags tags(std::size_t{1} << d);
    for (std::size_t t = 0; t < tags.size(); ++t) tags[t] = t;
    EXPECT_EQ(Isotropic(tags, d).steps(), std::uint64_t{1} << (d - 1));
    expect_optimal(tags, d);
  }
}

TEST(Isotropic, RandomTasksOfAnyDensity) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const int d = random.in(0, 10), rank = random.in(0, 40), sparse = random.in(0, 2);
    Tags tags;
    for (int r = 0; r < rank; ++r) {
      gf2::Word tag = random() & gf2::low_mask(d);
      for (int k = 0; k < sparse; ++k) tag &= random();
      tags.push_back(tag);
    }
    expect_optimal(tags, d);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Isotropic, TagsBeyondTheDimensionAreRefused) {
  EXPECT_THROW(Isotropic({0b1000}, 3), InputError);
  EXPECT_THROW(Isotropic({1}, 0), InputError);
  EXPECT_THROW(Isotropic({1}, -1), InputError);
}

}  // namespace
}  // namespace xorder::schedule
