#include "xorder/schedule/network.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

// Every ordered pair of nodes: a link exactly where the distance is 1, all numbers different, as many as
// links().
void expect_links_are_pairs_at_distance_one(const Network& network) {
  std::set<std::uint64_t> numbers;
  std::uint64_t count = 0;
  for (Node a = 0; a < network.nodes(); ++a) {
    for (Node b = 0; b < network.nodes(); ++b) {
      const auto link = network.link(a, b);
      ASSERT_EQ(link.has_value(), network.distance(a, b) == 1) << a << " " << b;
      if (!link) continue;
      ++count;
      numbers.insert(*link);
      ASSERT_LT(*link, network.link_numbers());
    }
  }
  EXPECT_EQ(numbers.size(), network.links());
  if (network.kind() != Network::Kind::crossbar) {
    EXPECT_EQ(count, network.links());
  }
}

TEST(Network, LinksArePairsAtDistanceOne) {
  for (int d = 0; d <= 6; ++d) expect_links_are_pairs_at_distance_one(Network::hypercube(d));
  for (std::uint64_t n = 0; n <= 8; ++n) expect_links_are_pairs_at_distance_one(Network::mesh(n));
  for (std::uint64_t n = 0; n <= 8; ++n) expect_links_are_pairs_at_distance_one(Network::torus(n));
  for (int p = 1; p <= 5; ++p) expect_links_are_pairs_at_distance_one(Network::crossbar(p));
}

// On the straight way between two nodes of a row or a column every node is one link nearer, and the way back
// has the same nodes.
TEST(Network, StraightWaysAreShortestAndTheSameBothWays) {
  for (std::uint64_t n = 1; n <= 9; ++n) {
    for (const Network& network : {Network::mesh(n), Network::torus(n)}) {
      for (Node a = 0; a < network.nodes(); ++a) {
        for (Node b = 0; b < network.nodes(); ++b) {
          if (a == b || (a / n != b / n && a % n != b % n)) continue;
          std::vector<Node> way = {a}, back = {b};
          while (way.back() != b) {
            const Node next = network.next(way.back(), b);
            ASSERT_EQ(network.distance(way.back(), next), 1u) << a << " " << b;
            ASSERT_EQ(network.distance(next, b) + 1, network.distance(way.back(), b)) << a << " " << b;
            way.push_back(next);
          }
          while (back.back() != a) back.push_back(network.next(back.back(), a));
          ASSERT_EQ(std::vector<Node>(back.rbegin(), back.rend()), way) << a << " " << b;
        }
      }
    }
  }
}

TEST(Network, OfSizesBeyondTheLimitsIsRefused) {
  EXPECT_THROW(Network::hypercube(21), InputError);
  EXPECT_THROW(Network::hypercube(-1), InputError);
  EXPECT_THROW(Network::crossbar(21), InputError);
  EXPECT_THROW(Network::mesh(1025), InputError);
  EXPECT_THROW(Network::torus(1025), InputError);
  EXPECT_EQ(Network::mesh(1024).nodes(), Network::hypercube(20).nodes());
}

}  // namespace
}  // namespace xorder::schedule
