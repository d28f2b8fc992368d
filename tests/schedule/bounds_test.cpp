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

// Distances summed block by block, over all links.
TEST(Bounds, OfTheTorus) {
  EXPECT_EQ(torus_bound(0), 0u);
  EXPECT_EQ(torus_bound(1), 0u);
  for (std::uint64_t n = 2; n <= 40; ++n) {
    std::uint64_t links = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t j = 0; j < n; ++j) {
        const std::uint64_t k = i < j ? j - i : i - j;
        links += 2 * std::min(k, n - k);
      }
    }
    EXPECT_EQ(torus_bound(n), (links + 4 * n * n - 1) / (4 * n * n)) << n;
    EXPECT_LE(torus_bound(n), mesh_bound(n)) << n;
  }
}

// The paper's schedule reaches the bound for most even sides; 38 and 96 are the first two where it does not.
TEST(Bounds, OfThePapersMeshSchedule) {
  std::vector<std::uint64_t> missed;
  for (std::uint64_t n = 2; n <= 96; n += 2) {
    EXPECT_GE(mesh_phases(n).steps(), mesh_bound(n)) << n;
    if (mesh_phases(n).steps() > mesh_bound(n)) missed.push_back(n);
    // The condition as the paper prints it.
    std::int64_t x = 0;
    const auto half = static_cast<std::int64_t>(n / 2);
    for (std::int64_t k = 0; 2 * k <= half; ++k) {
      const std::int64_t y = half - 2 * k;
      if (k <= y || (k - y) * (k - y - 1) <= 2 * y * y) x = k;
    }
    EXPECT_EQ(mesh_phases(n).first, static_cast<std::uint64_t>(x)) << n;
    EXPECT_EQ(mesh_phases(n).second, static_cast<std::uint64_t>(half - 2 * x)) << n;
  }
  EXPECT_EQ(missed, (std::vector<std::uint64_t>{38, 96}));
}

TEST(Bounds, OfDescend) {
  EXPECT_EQ(descend_bound(0, 5), 0u);
  EXPECT_EQ(descend_bound(1, 0), 1u);
  EXPECT_EQ(descend_bound(3, 0), 5u);   // distance: 2 + 2 + 1
  EXPECT_EQ(descend_bound(3, 4), 48u);  // capacity: (16·7 + 2·15) / 3 = 47.3
}

}  // namespace
}  // namespace xorder::schedule
