#include "schedule/mesh/torus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "schedule/bounds.hpp"
#include "schedule/path.hpp"
#include "schedule/simulate.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using Routing = Mesh::Routing;

void expect_transposition(const Torus& torus) {
  const std::uint64_t n = torus.network().side();
  const auto content = test::carried(torus);
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j < n; ++j) {
      ASSERT_EQ(content[(j * n + i) * torus.slots()], (i * n + j) * torus.slots()) << n;
    }
  }
}

// ⌈⌊N/2⌋ / 3⌉
std::uint64_t steps_of(std::uint64_t n) { return (n / 2 + 2) / 3; }

TEST(Torus, TakesASixthOfTheSide) {
  int reached = 0;
  for (std::uint64_t n = 0; n <= 64; ++n) {
    const Torus torus(n, Routing::any);
    EXPECT_EQ(test::expect_correct(torus).steps, steps_of(n)) << n;
    EXPECT_LE(torus.steps(), torus_bound(n) + 1) << n;
    EXPECT_LE(torus.steps(), mesh_bound(n)) << n;
    expect_transposition(torus);
    if (n >= 2 && torus.steps() == torus_bound(n)) ++reached;
  }
  EXPECT_EQ(reached, 31) << "as docs/theory.md says";
  for (std::uint64_t n = 0; n <= 7; ++n) EXPECT_EQ(Torus(n, Routing::any).steps(), torus_bound(n)) << n;
}

TEST(Torus, XYRoutingTakesOneStepMoreAndNeverLeavesAColumnForARow) {
  for (std::uint64_t n = 0; n <= 64; ++n) {
    const Torus torus(n, Routing::xy);
    EXPECT_EQ(test::expect_correct(torus).steps, steps_of(n) + (n < 4 ? 0 : n / 2 == 3 ? 2 : 1)) << n;
    expect_transposition(torus);
    std::vector<Message> messages;
    for (std::uint64_t step = 0; step < torus.steps(); ++step) {
      torus.messages(step, messages);
      for (const Message& m : messages) {
        const bool turns = m.via != m.to.node;
        ASSERT_TRUE(!turns || m.from.node / n == m.via / n) << "row first";
      }
    }
  }
}

TEST(Torus, LargeSides) {
  for (const std::uint64_t n : {65, 96, 127, 128, 199, 301}) {
    for (const Routing routing : {Routing::any, Routing::xy}) {
      const Torus torus(n, routing);
      EXPECT_EQ(test::expect_correct(torus).steps, steps_of(n) + (routing == Routing::xy ? 1 : 0)) << n;
    }
  }
  EXPECT_EQ(Torus(1024, Routing::any).steps(), 171u);
}

// No leg goes the longer way round a ring, and only on the smallest tori halfway.
TEST(Torus, LegsAreShorterThanHalfARing) {
  for (std::uint64_t n = 5; n <= 40; ++n) {
    for (const Routing routing : {Routing::any, Routing::xy}) {
      const Torus torus(n, routing);
      std::vector<Message> messages;
      for (std::uint64_t step = 0; step < torus.steps(); ++step) {
        torus.messages(step, messages);
        for (const Message& m : messages) {
          for_each_leg(m, [&](Node from, Node to) { EXPECT_LT(2 * torus.network().distance(from, to), n); });
        }
      }
    }
  }
}

// A block and its mirror image, one row and one column further, move alike.
TEST(Torus, IsTheSameAlongTheDiagonal) {
  for (std::uint64_t n = 5; n <= 20; ++n) {
    const Torus torus(n, Routing::any);
    const auto further = [n](Node v) { return (v / n + 1) % n * n + (v % n + 1) % n; };
    std::vector<Message> messages;
    for (std::uint64_t step = 0; step < torus.steps(); ++step) {
      torus.messages(step, messages);
      for (const Message& m : messages) {
        std::vector<Node> turns;
        if (m.turns) std::ranges::transform(*m.turns, std::back_inserter(turns), further);
        const Message next{{further(m.from.node), m.from.slot},
                           {further(m.to.node), m.to.slot},
                           further(m.via),
                           m.turns ? &turns : nullptr};
        ASSERT_NE(std::ranges::find(messages, next), messages.end()) << n;
      }
    }
  }
}

TEST(Torus, WhatIsRefused) {
  EXPECT_THROW(Torus(1025, Routing::any), InputError);
  EXPECT_THROW(Torus(8, Routing::two_phase), InputError);
  EXPECT_THROW(Torus(8, Routing::recursive), InputError);
}

}  // namespace
}  // namespace xorder::schedule
