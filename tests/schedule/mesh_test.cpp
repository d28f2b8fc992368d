#include "schedule/mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "schedule/bounds.hpp"
#include "schedule/simulate.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

TEST(Mesh, LowerBoundsToTwenty) {
  const std::vector<std::uint64_t> golden = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 6};
  for (std::size_t n = 2; n <= 20; ++n) EXPECT_EQ(mesh_bound(n), golden[n - 2]) << n;
  EXPECT_EQ(mesh_bound(0), 0u);
  EXPECT_EQ(mesh_bound(1), 0u);
}

void expect_transposition(const Mesh& mesh) {
  const std::uint64_t n = mesh.network().side();
  const auto content = test::carried(mesh);
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j < n; ++j) {
      ASSERT_EQ(content[(j * n + i) * mesh.slots()], (i * n + j) * mesh.slots()) << n;
    }
  }
}

TEST(Mesh, StrictlyOptimalToSixtyFour) {
  for (std::uint64_t n = 0; n <= 64; ++n) {
    const Mesh mesh(n, Mesh::Routing::any);
    EXPECT_EQ(test::expect_correct(mesh).steps, mesh_bound(n)) << n;
    expect_transposition(mesh);
  }
}

TEST(Mesh, XYRoutingTakesOneStepMoreAtMostAndNeverLeavesAColumnForARow) {
  const std::set<std::uint64_t> at_bound{2,  5,  8,  9,  11, 12, 15, 18, 19, 22, 25, 26, 28, 29, 32, 35,
                                         36, 39, 42, 43, 45, 46, 49, 50, 52, 53, 56, 59, 60, 62, 63};
  for (std::uint64_t n = 0; n <= 64; ++n) {
    const Mesh mesh(n, Mesh::Routing::xy);
    const std::uint64_t more = n < 2 || at_bound.contains(n) ? 0 : 1;
    EXPECT_EQ(test::expect_correct(mesh).steps, mesh_bound(n) + more) << n;
    expect_transposition(mesh);
    std::vector<Message> messages;
    for (std::uint64_t step = 0; step < mesh.steps(); ++step) {
      mesh.messages(step, messages);
      for (const Message& m : messages) {
        const bool turns = m.via != m.to.node;
        ASSERT_TRUE(!turns || m.from.node / n == m.via / n) << "row first";
      }
    }
  }
}

// Each node below the diagonal trades once, and each of the resources U_j and R_i at most once a step: all
// that can go wrong, without following any path.
void expect_feasible(const Mesh& mesh) {
  const std::uint64_t n = mesh.network().side();
  std::vector<bool> traded(n * n);
  std::vector<std::uint64_t> up(n, 0), right(n, 0);
  std::uint64_t count = 0, step = 0;
  for (const Mesh::Step& trades : mesh.trades()) {
    ++step;
    for (const bool is_up : {true, false}) {
      for (const Node v : is_up ? trades.up : trades.right) {
        const std::uint64_t i = v / n, j = v % n;
        ASSERT_GT(i, j);
        ASSERT_FALSE(traded[v]);
        traded[v] = true;
        ++count;
        std::uint64_t& last = is_up ? up[j] : right[i];
        ASSERT_NE(last, step) << n;
        last = step;
      }
    }
  }
  ASSERT_EQ(count, n * (n - 1) / 2);
}

TEST(Mesh, FeasibleToThreeHundred) {
  for (std::uint64_t n = 65; n <= 300; ++n) {
    const Mesh mesh(n, Mesh::Routing::any);
    ASSERT_EQ(mesh.trades().size(), mesh_bound(n));
    expect_feasible(mesh);
  }
}

TEST(Mesh, TwoPhasesTakeTheStepsOfThePaper) {
  for (std::uint64_t n = 0; n <= 100; n += 2) {
    const Mesh mesh(n, Mesh::Routing::two_phase);
    EXPECT_EQ(test::expect_correct(mesh).steps, mesh_phases(n).steps()) << n;
    expect_transposition(mesh);
  }
  for (std::uint64_t n = 102; n <= 300; n += 2) {
    const Mesh mesh(n, Mesh::Routing::two_phase);
    ASSERT_EQ(mesh.trades().size(), mesh_phases(n).steps());
    expect_feasible(mesh);
  }
}

// In the first phase, what goes up in the left half or right in the lower half begins in the lower left
// quarter, and all of these resources are in use.
TEST(Mesh, TheFirstPhaseKeepsToTheQuarter) {
  for (std::uint64_t n = 2; n <= 300; n += 2) {
    const Mesh mesh(n, Mesh::Routing::two_phase);
    for (std::uint64_t step = 0; step < mesh_phases(n).first; ++step) {
      std::uint64_t from_quarter = 0;
      for (const Node v : mesh.trades()[step].up) {
        if (v % n >= n / 2) continue;
        ASSERT_GE(v / n, n / 2) << n;
        ++from_quarter;
      }
      for (const Node v : mesh.trades()[step].right) {
        if (v / n < n / 2) continue;
        ASSERT_LT(v % n, n / 2) << n;
        ++from_quarter;
      }
      ASSERT_EQ(from_quarter, n) << n << ", step " << step;
    }
  }
}

// In every step all links between halves carry a message one way, and nobody has more than one.
TEST(Mesh, TheRecursiveExchangeTakesNMinusOneStepsWithOnePort) {
  for (std::uint64_t n = 1; n <= 64; n *= 2) {
    const Mesh mesh(n, Mesh::Routing::recursive);
    const CheckReport report = test::expect_correct(mesh);
    EXPECT_EQ(report.steps, n - 1);
    EXPECT_EQ(report.one_port_steps, n - 1);
    expect_transposition(mesh);
    std::vector<Message> messages;
    for (std::uint64_t step = 0; step < mesh.steps(); ++step) {
      mesh.messages(step, messages);
      const std::uint64_t h = mesh.network().distance(messages[0].from.node, messages[0].via);
      EXPECT_EQ(messages.size(), n * n / (2 * h)) << n << ", step " << step;
      for (const Message& m : messages) {
        ASSERT_EQ(m.from.node / n, m.via / n) << "row first";
        ASSERT_EQ(mesh.network().distance(m.from.node, m.to.node), 2 * h);
      }
    }
  }
  EXPECT_EQ(Mesh(0, Mesh::Routing::recursive).steps(), 0u);
}

TEST(Mesh, SidesThatAreRefused) {
  for (const std::uint64_t n : {3, 6, 12, 1000}) EXPECT_THROW(Mesh(n, Mesh::Routing::recursive), InputError);

  EXPECT_THROW(Mesh(1025, Mesh::Routing::any), InputError);
  EXPECT_THROW(Mesh(1026, Mesh::Routing::two_phase), InputError);
  EXPECT_THROW(Mesh(9, Mesh::Routing::two_phase), InputError);
}

}  // namespace
}  // namespace xorder::schedule
