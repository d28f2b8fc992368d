#include "schedule/one_to_all.hpp"

#include <gtest/gtest.h>

#include "schedule/simulate.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

TEST(OneToAll, TakesTheLeastSteps) {
  for (int d = 0; d <= OneToAll::max_dimension; ++d) {
    const OneToAll all(d);
    EXPECT_EQ(all.steps(), all.lower_bound()) << d;
    if (d <= 11) {
      EXPECT_EQ(test::expect_correct(all).steps, all.steps()) << d;
    }
  }
  EXPECT_EQ(OneToAll(8).steps(), 32u);
  EXPECT_EQ(OneToAll(9).steps(), 57u);
}

// A word for each node leaves node 0 once.
TEST(OneToAll, SendsEachWordOnce) {
  for (int d = 1; d <= 8; ++d) {
    const OneToAll all(d);
    std::vector<int> sent(std::size_t{1} << d, 0);
    for (std::uint64_t step = 0; step < all.steps(); ++step) {
      for (int j = 0; j < d; ++j) ++sent[all.sent(step, j)];
    }
    for (std::size_t v = 1; v < sent.size(); ++v) ASSERT_EQ(sent[v], 1) << v;
  }
}

TEST(OneToAll, OtherDimensionsAreRefused) {
  EXPECT_THROW(OneToAll(-1), InputError);
  EXPECT_THROW(OneToAll(14), InputError);
}

}  // namespace
}  // namespace xorder::schedule
