#include "xorder/schedule/timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "schedule/every_kind.hpp"
#include "schedule/path.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::schedule {
namespace {

constexpr auto saf = Switching::store_and_forward, worm = Switching::wormhole;

// All links busy in all steps: nobody can begin earlier than in lock step. 2^(d−1) steps of one link.
TEST(Timing, TotalExchange) {
  for (int d = 1; d <= 6; ++d) {
    const Exchange exchange(d, Exchange::Kind::transposition);
    const double step = 5 + 2 + 100 * 0.5, steps = static_cast<double>(exchange.steps());
    for (const Switching s : {saf, worm}) {
      const Duration all = duration(exchange, 100, {5, 2, 0.5, false}, s);
      EXPECT_DOUBLE_EQ(all.lock_step, steps * step);
      EXPECT_DOUBLE_EQ(all.asynchronous, steps * step);
      // d messages of each node, one after the other; all ports are always busy.
      const Duration one = duration(exchange, 100, {5, 2, 0.5, true}, s);
      EXPECT_DOUBLE_EQ(one.lock_step, d * steps * step);
      EXPECT_DOUBLE_EQ(one.asynchronous, d * steps * step);
    }
  }
}

// 3 × 3 blocks in one step, a corner's over four links.
TEST(Timing, Mesh) {
  const Mesh mesh(3, Mesh::Routing::any);
  ASSERT_EQ(mesh.steps(), 1u);
  EXPECT_DOUBLE_EQ(duration(mesh, 10, {1, 2, 3}, worm).lock_step, 1 + 4 * 2 + 10 * 3);
  EXPECT_DOUBLE_EQ(duration(mesh, 10, {1, 2, 3}, saf).lock_step, 1 + 4 * (2 + 10 * 3));
  EXPECT_DOUBLE_EQ(duration(mesh, 10, {1, 2, 3}, worm).asynchronous, 1 + 4 * 2 + 10 * 3);
  EXPECT_DOUBLE_EQ(duration(mesh, 10, {1, 2, 3}, saf).asynchronous, 1 + 4 * (2 + 10 * 3));
}

// 3 × 3 blocks in one step, each over two links: around the rings no way is longer.
TEST(Timing, Torus) {
  const Torus torus(3, Mesh::Routing::any);
  ASSERT_EQ(torus.steps(), 1u);
  EXPECT_DOUBLE_EQ(duration(torus, 10, {1, 2, 3}, worm).lock_step, 1 + 2 * 2 + 10 * 3);
  EXPECT_DOUBLE_EQ(duration(torus, 10, {1, 2, 3}, saf).lock_step, 1 + 2 * (2 + 10 * 3));
  EXPECT_DOUBLE_EQ(duration(torus, 10, {1, 2, 3}, worm).asynchronous, 1 + 2 * 2 + 10 * 3);
  EXPECT_DOUBLE_EQ(duration(torus, 10, {1, 2, 3}, saf).asynchronous, 1 + 2 * (2 + 10 * 3));
}

// What no port, link or chain of messages allows to be done faster. Waits are left out.
struct Bounds {
  double port = 0;   // the time of all messages through the busiest port
  double chain = 0;  // the longest chain of messages of which each carries what the one before has brought
};
Bounds bounds(const Schedule& s, double bytes, const LinkTimes& times, Switching switching) {
  const Network& network = s.network();
  std::vector<double> sends(network.nodes()), receives(network.nodes()), there(network.nodes() * s.slots());
  const auto at = [&](const Place& p) -> double& { return there[p.node * s.slots() + p.slot]; };
  Bounds found;
  std::vector<Message> messages;
  std::vector<Update> updates;
  std::vector<double> arrivals;
  for (std::uint64_t step = 0; step < s.steps(); ++step) {
    s.messages(step, messages);
    arrivals.clear();
    for (const Message& m : messages) {
      const auto crossed = static_cast<double>(links(network, m));
      double time = times.startup + crossed * times.per_link + bytes * times.per_byte;
      if (switching == saf) time += (crossed - 1) * bytes * times.per_byte;
      if (crossed == 0) time = 0;
      arrivals.push_back(at(m.from) + time);
      found.port = std::max({found.port, sends[m.from.node] += time, receives[m.to.node] += time});
    }
    for (std::size_t i = 0; i < messages.size(); ++i) at(messages[i].to) = arrivals[i];
    s.updates(step, updates);
    arrivals.clear();
    for (const Update& u : updates) arrivals.push_back(std::max({at(u.element), at(u.plus), at(u.minus)}));
    for (std::size_t i = 0; i < updates.size(); ++i) at(updates[i].element) = arrivals[i];
    for (const double time : there) found.chain = std::max(found.chain, time);
  }
  return found;
}

// Nobody waits longer than for a step's end, more ports and shorter paths are never slower, and nothing is
// faster than its ports and chains. All times are whole numbers, so that sums are exact.
TEST(Timing, AsynchronousIsNeverSlowerForAnyKind) {
  test::Random random;
  SEED_TRACE(random);
  for (const auto& [name, s] : test::every_kind(random)) {
    LinkTimes times{random.in(0, 9) * 1.0, random.in(0, 9) * 1.0, random.in(0, 9) * 1.0, false};
    for (const Switching switching : {saf, worm}) {
      const Bounds bound = bounds(*s, 7, times, switching);
      times.one_port = false;
      const Duration all = duration(*s, 7, times, switching);
      times.one_port = true;
      const Duration one = duration(*s, 7, times, switching);
      EXPECT_LE(all.asynchronous, all.lock_step) << name;
      EXPECT_LE(one.asynchronous, one.lock_step) << name;
      EXPECT_LE(all.lock_step, one.lock_step) << name;
      EXPECT_LE(all.asynchronous, one.asynchronous) << name;
      EXPECT_GE(all.asynchronous, bound.chain) << name;
      EXPECT_GE(one.asynchronous, bound.port) << name;
    }
    EXPECT_LE(duration(*s, 7, times, worm).lock_step, duration(*s, 7, times, saf).lock_step) << name;
  }
}

// Messages over one link each: with one port, lock step counts the steps that the checker counts.
TEST(Timing, LockStepWithOnePortCountsItsSteps) {
  for (int n = 1; n <= 5; ++n) {
    const Aspc aspc(n, Aspc::Halves::both);
    EXPECT_DOUBLE_EQ(duration(aspc, 0, {0, 1, 0, true}, saf).lock_step,
                     static_cast<double>(check(aspc).one_port_steps));
  }
}

// Crossing times of 1 and nothing else: steps are counted.
TEST(Timing, LockStepCountsSteps) {
  for (int d = 0; d <= 6; ++d) {
    const Descend descend(d, 2, Descend::Order::ascend);
    std::uint64_t busy = 0;
    for (const std::uint64_t crossings : check(descend).step_crossings) busy += crossings > 0;
    EXPECT_DOUBLE_EQ(duration(descend, 0, {0, 1, 0}, saf).lock_step, static_cast<double>(busy));
  }
}

TEST(Timing, ImpossibleTimesAreRefused) {
  const Exchange exchange(2, Exchange::Kind::transposition);
  EXPECT_THROW(duration(exchange, 1, {-1, 0, 0}, saf), InputError);
  EXPECT_THROW(duration(exchange, std::numeric_limits<double>::infinity(), {1, 0, 0}, saf), InputError);
  EXPECT_THROW(duration(Exchange(15, Exchange::Kind::transposition), 1, {1, 0, 0}, saf), InputError);
}

}  // namespace
}  // namespace xorder::schedule
