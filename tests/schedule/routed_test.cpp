#include "xorder/schedule/routed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "schedule/bounds.hpp"
#include "schedule/exchange.hpp"
#include "schedule/hypercube_bound.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

// Any task: some places, in random order, to as many places; those that would change their slot only are left
// out.
std::vector<Packet> random_task(test::Random& random, int d, std::uint64_t slots) {
  const std::uint64_t places = slots << d;
  std::vector<std::uint64_t> from(places), to(places);
  std::iota(from.begin(), from.end(), std::uint64_t{0});
  to = from;
  std::ranges::shuffle(from, random);
  std::ranges::shuffle(to, random);
  std::vector<Packet> task;
  const std::uint64_t count = random.in(0u, places);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Place a{from[i] / slots, from[i] % slots}, b{to[i] / slots, to[i] % slots};
    if (a.node != b.node || a.slot == b.slot) task.push_back({a, b});
  }
  return task;
}

TEST(Routed, EveryPacketOfRandomTasksArrives) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const int d = random.in(0, 6);
    const auto slots = random.in(std::uint64_t{1}, std::uint64_t{12});
    const auto task = random_task(random, d, slots);
    const Routed routed(d, slots, task, {.effort = random.in(0u, 300u), .seed = random()});
    const CheckReport report = test::expect_correct(routed);
    EXPECT_EQ(report.crossings, task_crossings(task));
    EXPECT_LE(report.steps, routed.greedy_steps());
    EXPECT_EQ(report.lower_bound, task_bound(task, d));
    const auto content = test::carried(routed);
    for (const Packet& p : task) {
      ASSERT_EQ(content[p.to.node * routed.slots() + p.to.slot], p.from.node * routed.slots() + p.from.slot);
    }
    ASSERT_FALSE(HasFailure()) << "d " << d << ", slots " << slots << ", packets " << task.size();
  }
}

TEST(Routed, TheSameTaskGivesTheSameSchedule) {
  test::Random random;
  SEED_TRACE(random);
  const auto task = random_task(random, 4, 8);
  const Routed a(4, 8, task), b(4, 8, task);
  ASSERT_EQ(a.steps(), b.steps());
  std::vector<Message> of_a, of_b;
  for (std::uint64_t step = 0; step < a.steps(); ++step) {
    a.messages(step, of_a);
    b.messages(step, of_b);
    EXPECT_EQ(of_a, of_b);
  }
}

// The task of a schedule in closed form: the search cannot be better than what is optimal.
TEST(Routed, TotalExchange) {
  for (int d = 0; d <= 5; ++d) {
    const Exchange exchange(d, Exchange::Kind::transposition);
    std::vector<Packet> task;
    for (Node v = 0; v < exchange.network().nodes(); ++v) {
      for (std::uint64_t slot = 0; slot < exchange.slots(); ++slot) {
        task.push_back({{v, slot}, *exchange.goal({v, slot})});
      }
    }
    EXPECT_EQ(task_bound(task, d), test::hypercube_bound(exchange)) << d;
    const Routed routed(d, exchange.slots(), task);
    test::expect_correct(routed);
    EXPECT_GE(routed.steps(), exchange.steps()) << d;
    EXPECT_LE(routed.steps(), exchange.steps() + 1) << d;
  }
}

// One node has a packet for each other node: at least (N − 1) / d steps, as d leave it in a step.
TEST(Routed, OneToAll) {
  for (int d = 1; d <= 9; ++d) {
    const std::uint64_t nodes = std::uint64_t{1} << d;
    std::vector<Packet> task;
    for (Node v = 1; v < nodes; ++v) task.push_back({{0, v}, {v, 0}});
    const Routed routed(d, nodes, task);
    test::expect_correct(routed);
    EXPECT_EQ(routed.lower_bound(),
              std::max((nodes - 2) / static_cast<std::uint64_t>(d) + 1, static_cast<std::uint64_t>(d)))
        << d;
    EXPECT_LE(routed.steps(), routed.lower_bound() + 1) << d;
  }
}

TEST(Routed, ImpossibleTasksAreRefused) {
  const auto refused = [](int d, std::uint64_t slots, std::vector<Packet> task) {
    EXPECT_THROW(Routed(d, slots, task), InputError);
  };
  refused(21, 1, {});
  refused(-1, 1, {});
  refused(2, 1, {{{0, 0}, {4, 0}}});
  refused(2, 1, {{{0, 1}, {1, 0}}});
  refused(2, 2, {{{0, 0}, {0, 1}}});
  refused(2, 2, {{{0, 0}, {1, 0}}, {{0, 0}, {2, 0}}});
  refused(2, 2, {{{0, 0}, {1, 0}}, {{2, 0}, {1, 0}}});
  refused(20, 1000, {});
}

}  // namespace
}  // namespace xorder::schedule
