#include "schedule/descend/descend.hpp"

#include <gtest/gtest.h>

#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using Order = Descend::Order;

TEST(Descend, StepsOfEightNodes) {
  const std::vector<std::uint64_t> golden = {12, 20, 32, 52, 88};
  for (int v = 0; v <= 4; ++v) {
    EXPECT_EQ(test::expect_correct(Descend(3, v, Order::descend)).steps, golden[static_cast<std::size_t>(v)]);
    EXPECT_EQ(test::expect_correct(Descend(3, v, Order::ascend)).steps, golden[static_cast<std::size_t>(v)]);
  }
}

TEST(Descend, FourStepsARoundForEveryShape) {
  for (int n = 0; n <= 7; ++n) {
    for (int v = 0; v <= 7; ++v) {
      for (const Order order : {Order::descend, Order::ascend}) {
        const CheckReport report = test::expect_correct(Descend(n, v, order));
        const std::uint64_t lg_m = static_cast<std::uint64_t>(n + v), per_node = std::uint64_t{1} << v;
        EXPECT_EQ(report.steps, 4 * (lg_m + per_node - 1));
        ASSERT_FALSE(testing::Test::HasFailure()) << n << " " << v;
      }
    }
  }
}

// A function of three numbers that tells its arguments and iterations apart.
std::uint64_t mixed(std::uint64_t x, std::uint64_t plus, std::uint64_t minus, int iteration) {
  return x * 0x9E3779B97F4A7C15u + plus * 0xC2B2AE3D27D4EB4Fu + (minus << 7 ^ minus >> 3) +
         static_cast<std::uint64_t>(iteration) * 0x165667B19E3779F9u;
}

std::vector<std::uint64_t> by_definition(std::vector<std::uint64_t> a, int lg_m, Order order) {
  const std::uint64_t mask = a.size() - 1;
  for (int i = 0; i < lg_m; ++i) {
    const int b = order == Order::ascend ? i : lg_m - 1 - i;
    const std::uint64_t distance = std::uint64_t{1} << b;
    std::vector<std::uint64_t> next(a.size());
    for (std::uint64_t x = 0; x < a.size(); ++x)
      next[x] = mixed(a[x], a[(x + distance) & mask], a[(x - distance) & mask], b);
    a = std::move(next);
  }
  return a;
}

// Follows messages and updates with values; scratch slots begin with rubbish.
std::vector<std::uint64_t> by_schedule(const std::vector<std::uint64_t>& a, const Descend& descend) {
  const std::uint64_t per_node = std::uint64_t{1} << descend.lg_per_node(), slots = descend.slots();
  std::vector<std::uint64_t> memory(descend.network().nodes() * slots, 0xDEAD);
  const auto gray = [](std::uint64_t x) { return x ^ x >> 1; };
  for (std::uint64_t x = 0; x < a.size(); ++x) memory[gray(x / per_node) * slots + x % per_node] = a[x];
  const auto at = [&](const Place& p) -> std::uint64_t& { return memory[p.node * slots + p.slot]; };
  std::vector<Message> messages;
  std::vector<Update> updates;
  std::vector<std::uint64_t> values;
  for (std::uint64_t step = 0; step < descend.steps(); ++step) {
    values.clear();
    descend.messages(step, messages);
    for (const Message& m : messages) values.push_back(at(m.from));
    for (std::size_t i = 0; i < messages.size(); ++i) at(messages[i].to) = values[i];
    values.clear();
    descend.updates(step, updates);
    for (const Update& u : updates)
      values.push_back(mixed(at(u.element), at(u.plus), at(u.minus), u.iteration));
    for (std::size_t i = 0; i < updates.size(); ++i) at(updates[i].element) = values[i];
  }
  std::vector<std::uint64_t> result(a.size());
  for (std::uint64_t x = 0; x < a.size(); ++x) result[x] = memory[gray(x / per_node) * slots + x % per_node];
  return result;
}

TEST(Descend, ComputesWhatTheLoopComputes) {
  for (int n = 0; n <= 6; ++n) {
    for (int v = 0; v <= 5; ++v) {
      std::vector<std::uint64_t> a(std::size_t{1} << (n + v));
      for (std::size_t x = 0; x < a.size(); ++x) a[x] = x * x + 1;
      for (const Order order : {Order::descend, Order::ascend}) {
        ASSERT_EQ(by_schedule(a, Descend(n, v, order)), by_definition(a, n + v, order)) << n << " " << v;
      }
    }
  }
}

TEST(Descend, AscendIsTheListOfRoundsBackwards) {
  const Descend down(3, 3, Order::descend), up(3, 3, Order::ascend);
  for (std::uint64_t r = 0; r < down.rounds(); ++r) {
    const auto a = down.round(r), b = up.round(up.rounds() - 1 - r);
    ASSERT_EQ(a.pipelined.size(), b.pipelined.size());
    for (std::size_t i = 0; i < a.pipelined.size(); ++i) {
      EXPECT_EQ(a.pipelined[i].j, b.pipelined[i].j);
      EXPECT_EQ(a.pipelined[i].offset, b.pipelined[i].offset);
    }
    EXPECT_EQ(a.local.has_value(), b.local.has_value());
  }
}

TEST(Descend, BetweenNodesOnly) {
  for (int n = 0; n <= 6; ++n) {
    for (int v = 0; v <= 6; ++v) {
      for (const Order order : {Order::descend, Order::ascend}) {
        const CheckReport report = test::expect_correct(Descend(n, v, order, Descend::Part::between_nodes));
        EXPECT_EQ(report.steps,
                  n == 0 ? 0 : 4 * (static_cast<std::uint64_t>(n) + (std::uint64_t{1} << v) - 1));
        ASSERT_FALSE(testing::Test::HasFailure()) << n << " " << v;
      }
    }
  }
}

TEST(Descend, WhatIsNotReadIsNotSent) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < 100; ++round) {
    const int n = random.in(0, 5), v = random.in(0, 5);
    const auto order = random.in(0, 1) == 1 ? Order::ascend : Order::descend;
    const auto part = random.in(0, 1) == 1 ? Descend::Part::all : Descend::Part::between_nodes;
    const Reads reads{random(), random()};
    const Descend some(n, v, order, part, reads), all(n, v, order, part);
    const CheckReport report = test::expect_correct(some);
    EXPECT_EQ(report.steps, all.steps());
    EXPECT_LE(report.messages, all.total().messages);
    EXPECT_EQ(test::expect_correct(Descend(n, v, order, part, {0, 0})).messages, 0u);
    ASSERT_FALSE(testing::Test::HasFailure()) << n << " " << v;
  }
}

TEST(Descend, ImpossibleShapesAreRefused) {
  EXPECT_THROW(Descend(21, 0, Order::descend), InputError);
  EXPECT_THROW(Descend(3, -1, Order::descend), InputError);
  EXPECT_THROW(Descend(3, 31, Order::ascend), InputError);
}

}  // namespace
}  // namespace xorder::schedule
