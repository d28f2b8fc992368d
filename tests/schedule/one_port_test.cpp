#include "schedule/one_port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "schedule/every_kind.hpp"
#include "schedule/path.hpp"
#include "seed.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

// In a round each node sends and receives at most once, and there are as many rounds as a port has messages.
uint64_t expect_rounds(OnePort& one_port, const std::vector<Message>& messages, uint64_t nodes) {
  std::vector<uint64_t> round, sends(nodes, 0), receives(nodes, 0);
  const uint64_t rounds = one_port.split(messages, round);
  EXPECT_EQ(round.size(), messages.size());
  std::set<std::pair<uint64_t, Node>> sending, receiving;
  uint64_t busiest = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (stays(m)) continue;
    EXPECT_LT(round[i], rounds);
    EXPECT_TRUE(sending.emplace(round[i], m.from.node).second);
    EXPECT_TRUE(receiving.emplace(round[i], m.to.node).second);
    busiest = std::max({busiest, ++sends[m.from.node], ++receives[m.to.node]});
  }
  EXPECT_EQ(rounds, busiest);
  return rounds;
}

// Any messages, also several between the same two nodes.
TEST(OnePort, AsManyRoundsAsTheBusiestPortHasMessages) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const auto nodes = random.in(uint64_t{1}, uint64_t{12});
    OnePort one_port(nodes);
    for (int step = 0; step < 3; ++step) {
      std::vector<Message> messages(random.in(std::size_t{0}, std::size_t{80}));
      for (Message& m : messages) {
        m.from.node = random.in(uint64_t{0}, nodes - 1);
        m.to.node = m.via = random.in(uint64_t{0}, nodes - 1);
      }
      expect_rounds(one_port, messages, nodes);
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

// The checker counts the steps that this makes; one that nobody needs a port for is a step all the same.
TEST(OnePort, StepsOfEveryKindOfSchedule) {
  test::Random random;
  SEED_TRACE(random);
  for (const auto& [name, s] : test::every_kind(random)) {
    OnePort one_port(s->network().nodes());
    uint64_t steps = 0;
    std::vector<Message> messages;
    for (uint64_t step = 0; step < s->steps(); ++step) {
      s->messages(step, messages);
      steps += std::max<uint64_t>(expect_rounds(one_port, messages, s->network().nodes()), 1);
    }
    const CheckReport report = check(*s);
    EXPECT_EQ(report.one_port_steps, steps) << name;
    EXPECT_EQ(report.one_port_steps == report.steps, report.ports() <= 1) << name;
    EXPECT_LE(report.one_port_steps, report.steps * std::max<uint64_t>(report.ports(), 1)) << name;
    ASSERT_FALSE(testing::Test::HasFailure()) << name;
  }
}

// All links are busy, and each node has d of them.
TEST(OnePort, TotalExchange) {
  for (int d = 1; d <= 6; ++d) {
    EXPECT_EQ(check(Exchange(d, Exchange::Kind::transposition)).one_port_steps, static_cast<uint64_t>(d)
                                                                                    << (d - 1));
  }
}

}  // namespace
}  // namespace xorder::schedule
