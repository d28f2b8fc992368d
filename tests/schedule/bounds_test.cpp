#include "schedule/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "schedule/banded/banded.hpp"
#include "schedule/banded/banded_batch.hpp"
#include "schedule/descend/aspc.hpp"
#include "schedule/exchange.hpp"
#include "schedule/hypercube_bound.hpp"

namespace xorder::schedule {
namespace {

// The closed forms against what is counted from the goals, place by place.
TEST(Bounds, ClosedFormsAreWhatTheGoalsNeed) {
  for (int d = 0; d <= 7; ++d) {
    EXPECT_EQ(total_exchange_bound(d), test::hypercube_bound(Exchange(d, Exchange::Kind::transposition)));
    EXPECT_EQ(total_exchange_bound(d), test::hypercube_bound(Exchange(d, Exchange::Kind::bit_reversal)));
    for (int beta = 0; beta <= d; ++beta) {
      EXPECT_EQ(banded_bound(d, beta, 1), test::hypercube_bound(Banded(d, beta))) << d << " " << beta;
      for (int k = 1; beta > 0 && beta < d && k * beta <= d; ++k) {
        EXPECT_EQ(banded_bound(d, beta, k), test::hypercube_bound(BandedBatch(d, beta, k)))
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

// The least weights of paths to all nodes, if a link into a node of the main diagonal weighs `entry`, and any
// other weighs 1.
std::vector<std::uint64_t> least_weights(const Network& torus, Node from, std::uint64_t entry) {
  const std::uint64_t n = torus.side();
  std::vector<std::uint64_t> least(torus.nodes(), ~std::uint64_t{0});
  std::set<std::pair<std::uint64_t, Node>> open = {{0, from}};
  least[from] = 0;
  while (!open.empty()) {
    const auto [weight, v] = *open.begin();
    open.erase(open.begin());
    const std::uint64_t i = v / n, j = v % n;
    for (const Node w :
         {(i + 1) % n * n + j, (i + n - 1) % n * n + j, i * n + (j + 1) % n, i * n + (j + n - 1) % n}) {
      const std::uint64_t there = weight + (w / n == w % n ? entry : 1);
      if (there >= least[w]) continue;
      open.erase({least[w], w});
      open.insert({least[w] = there, w});
    }
  }
  return least;
}

// The weights of the blocks' lightest paths over the weight of all links, for every weight that can matter. A
// torus of two rows has half as many links, which the bound does not use.
TEST(Bounds, OfTheTorus) {
  EXPECT_EQ(torus_bound(0), 0u);
  EXPECT_EQ(torus_bound(1), 0u);
  EXPECT_EQ(torus_bound(2), 1u);
  for (std::uint64_t n = 3; n <= 12; ++n) {
    const Network torus = Network::torus(n);
    std::uint64_t bound = 0;
    for (std::uint64_t entry = 1; entry <= 2 * n; ++entry) {
      std::uint64_t paths = 0, links = 0;
      for (Node v = 0; v < torus.nodes(); ++v) {
        paths += least_weights(torus, v, entry)[v % n * n + v / n];
        links += 4 * (v / n == v % n ? entry : 1);
      }
      bound = std::max(bound, (paths + links - 1) / links);
    }
    EXPECT_EQ(torus_bound(n), bound) << n;
  }
  for (std::uint64_t n = 2; n <= 1024; ++n) {
    EXPECT_GE(torus_bound(n), (n * n / 4 + 2 * n - 1) / (2 * n)) << "the sum of distances over all links";
    EXPECT_LE(torus_bound(n), mesh_bound(n)) << n;
    EXPECT_NEAR(static_cast<double>(torus_bound(n)), static_cast<double>(n) / (4 + 2 * std::sqrt(2)), 1) << n;
  }
}

// The paper's schedule reaches the bound for most even sides; 38 and 96 are the first two where it does not.
TEST(Bounds, OfThePapersMeshSchedule) {
  std::vector<std::uint64_t> missed;
  for (std::uint64_t n = 2; n <= 96; n += 2) {
    EXPECT_GE(mesh_phases(n).steps(), mesh_bound(n)) << n;
    EXPECT_LE(static_cast<double>(mesh_phases(n).steps()),
              std::ceil(static_cast<double>(n) / (2 + std::sqrt(2.0))))
        << n;  // what its authors claim
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
