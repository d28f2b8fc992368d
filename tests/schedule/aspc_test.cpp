#include "schedule/descend/aspc.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "schedule/bounds.hpp"
#include "schedule/simulate.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

std::string first_links(AspcHalf half, int j, int n) {
  std::string links;
  for (Node i = 0; i >> n == 0; ++i) links += std::to_string(aspc_way(half, i, j, n).first);
  return links;
}

TEST(Aspc, TableOfFirstLinks) {
  EXPECT_EQ(first_links(AspcHalf::plus, 0, 3), "01020102");
  EXPECT_EQ(first_links(AspcHalf::plus, 1, 3), "10201020");
  EXPECT_EQ(first_links(AspcHalf::plus, 2, 3), "22112211");
}

TEST(Aspc, ADistanceAloneTakesAsManyStepsAsItHasLinks) {
  for (int n = 1; n <= 10; ++n) {
    for (int b = 0; b < n; ++b) {
      for (const auto halves : {Aspc::Halves::plus, Aspc::Halves::minus, Aspc::Halves::both}) {
        const Aspc alone = Aspc::alone(n, halves, b);
        const std::uint64_t slots = halves == Aspc::Halves::both ? 2 : 1;
        EXPECT_EQ(test::expect_correct(alone).steps, n == 1 ? slots : b == 0 ? 1 : 2) << n << " " << b;
        EXPECT_EQ(alone.steps(), alone.lower_bound());
        EXPECT_EQ(alone.slots(), slots);
      }
    }
  }
  EXPECT_THROW(Aspc::alone(3, Aspc::Halves::both, 3), InputError);
  EXPECT_THROW(Aspc::alone(3, Aspc::Halves::both, -1), InputError);
  EXPECT_THROW(Aspc::alone(0, Aspc::Halves::both, 0), InputError);
}

TEST(Aspc, WaysLeadToTheirGoals) {
  for (int n = 1; n <= 10; ++n) {
    const Node mask = (Node{1} << n) - 1;
    for (Node i = 0; i <= mask; ++i) {
      std::set<int> plus_links, minus_links;
      for (int j = 0; j < n; ++j) {
        for (const AspcHalf half : {AspcHalf::plus, AspcHalf::minus}) {
          const AspcWay way = aspc_way(half, i, j, n);
          (half == AspcHalf::plus ? plus_links : minus_links).insert(way.first);
          Node at = aspc_across(i, way.first);
          // What arrives goes into slot j as the receiver would number the link in the other half.
          const AspcHalf other = half == AspcHalf::plus ? AspcHalf::minus : AspcHalf::plus;
          ASSERT_EQ(aspc_way(other, at, j, n).first, way.first);
          if (j > 0) at = aspc_across(at, way.second);
          const Node distance = Node{1} << j;
          ASSERT_EQ(at, (half == AspcHalf::plus ? i + distance : i - distance) & mask);
        }
        // The mirror law.
        ASSERT_EQ(aspc_way(AspcHalf::minus, i, j, n).first, aspc_way(AspcHalf::plus, mask - i, j, n).first);
      }
      ASSERT_EQ(plus_links.size(), static_cast<std::size_t>(n));
      ASSERT_EQ(minus_links.size(), static_cast<std::size_t>(n));
    }
  }
}

TEST(Aspc, TakesTwoStepsAHalf) {
  for (int n = 0; n <= 10; ++n) {
    const std::uint64_t half = n < 2 ? static_cast<std::uint64_t>(n) : 2;
    EXPECT_EQ(test::expect_correct(Aspc(n, Aspc::Halves::plus)).steps, half);
    EXPECT_EQ(test::expect_correct(Aspc(n, Aspc::Halves::minus)).steps, half);
    EXPECT_EQ(test::expect_correct(Aspc(n, Aspc::Halves::both)).steps, n == 2 ? 3 : 2 * half);
    EXPECT_EQ(Aspc(n, Aspc::Halves::both).lower_bound(), n == 2 ? 3 : 2 * half);
  }
}

// Physical node and slot from the definition: slot j of i to slot j of i ± 2^j.
TEST(Aspc, MovesWhatItShould) {
  const auto gray = [](std::uint64_t x) { return x ^ x >> 1; };
  for (int n = 1; n <= 8; ++n) {
    const Aspc aspc(n, Aspc::Halves::both);
    const auto content = test::carried(aspc);
    const std::uint64_t mask = (std::uint64_t{1} << n) - 1, slots = aspc.slots();
    for (std::uint64_t i = 0; i <= mask; ++i) {
      for (std::uint64_t j = 0; j < static_cast<std::uint64_t>(n); ++j) {
        const std::uint64_t minus = j + static_cast<std::uint64_t>(n), far = std::uint64_t{1} << j;
        ASSERT_EQ(content[gray((i + far) & mask) * slots + j], gray(i) * slots + j);
        ASSERT_EQ(content[gray((i - far) & mask) * slots + minus], gray(i) * slots + minus);
      }
    }
  }
}

TEST(Aspc, TooLargeIsRefused) { EXPECT_THROW(Aspc(21, Aspc::Halves::both), InputError); }

}  // namespace
}  // namespace xorder::schedule
