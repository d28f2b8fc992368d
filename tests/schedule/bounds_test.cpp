#include "xorder/schedule/bounds.hpp"

#include <gtest/gtest.h>

#include "xorder/schedule/aspc.hpp"
#include "xorder/schedule/banded.hpp"
#include "xorder/schedule/banded_batch.hpp"
#include "xorder/schedule/exchange.hpp"

namespace xorder::schedule {
namespace {

// The closed forms against what is counted from the goals, place by place.
TEST(Bounds, ClosedFormsAreWhatTheGoalsNeed) {
  for (int d = 0; d <= 7; ++d) {
    EXPECT_EQ(total_exchange_bound(d), hypercube_bound(Exchange(d, Exchange::Kind::transposition)));
    EXPECT_EQ(total_exchange_bound(d), hypercube_bound(Exchange(d, Exchange::Kind::bit_reversal)));
    for (int beta = 0; beta <= d; ++beta) {
      EXPECT_EQ(banded_bound(d, beta, 1), hypercube_bound(Banded(d, beta))) << d << " " << beta;
      for (int k = 1; beta > 0 && beta < d && k * beta <= d; ++k) {
        EXPECT_EQ(banded_bound(d, beta, k), hypercube_bound(BandedBatch(d, beta, k)))
            << d << " " << beta << " " << k;
      }
    }
  }
}

// The mean over all links is what aspc_bound counts; the goals' largest column can only need more.
TEST(Bounds, OfAspcIsACapacity) {
  for (int n = 0; n <= 8; ++n) {
    for (const auto halves : {Aspc::Halves::plus, Aspc::Halves::minus, Aspc::Halves::both}) {
      const Aspc aspc(n, halves);
      EXPECT_LE(aspc.lower_bound(), aspc.steps());
      if (n >= 3) {
        EXPECT_EQ(aspc.lower_bound(), aspc.steps());
      }
    }
  }
}

TEST(Bounds, OfDescend) {
  EXPECT_EQ(descend_bound(0, 5), 0u);
  EXPECT_EQ(descend_bound(1, 0), 1u);
  EXPECT_EQ(descend_bound(3, 0), 5u);   // distance: 2 + 2 + 1
  EXPECT_EQ(descend_bound(3, 4), 48u);  // capacity: (16·7 + 2·15) / 3 = 47.3
}

}  // namespace
}  // namespace xorder::schedule
