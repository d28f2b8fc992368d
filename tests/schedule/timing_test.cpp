#include "xorder/schedule/timing.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/banded.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/schedule/descend.hpp"
#include "xorder/schedule/exchange.hpp"
#include "xorder/schedule/mesh.hpp"

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
      // d messages of each node, one after the other.
      EXPECT_DOUBLE_EQ(duration(exchange, 100, {5, 2, 0.5, true}, s).lock_step, d * steps * step);
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

// With all ports nobody waits longer than for a step's end, and longer paths take longer.
TEST(Timing, AsynchronousIsNeverSlower) {
  test::Random random;
  SEED_TRACE(random);
  const auto expect = [&](const Schedule& s) {
    const LinkTimes times{random.in(0, 9) * 1.0, random.in(0, 9) * 1.0, random.in(0, 9) * 1.0, false};
    for (const Switching switching : {saf, worm}) {
      const Duration all = duration(s, 7, times, switching);
      EXPECT_LE(all.asynchronous, all.lock_step);
      LinkTimes one = times;
      one.one_port = true;
      EXPECT_LE(all.lock_step, duration(s, 7, one, switching).lock_step);
    }
    EXPECT_LE(duration(s, 7, times, worm).lock_step, duration(s, 7, times, saf).lock_step);
  };
  for (int d = 1; d <= 5; ++d) {
    for (int beta = 0; beta <= d; ++beta) expect(Banded(d, beta));
    expect(Descend(d, 3, Descend::Order::descend));
  }
  for (std::uint64_t side = 1; side <= 12; ++side) {
    expect(Mesh(side, Mesh::Routing::any));
    expect(Mesh(side, Mesh::Routing::xy));
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
