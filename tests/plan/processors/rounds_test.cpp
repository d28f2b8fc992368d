#include "plan/processors/rounds.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <regex>
#include <set>
#include <string>

#include "plan/processors/processor_setting.hpp"
#include "plan/reference.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::plan {
namespace {

using gf2::Word;
using std::uint64_t;
using test::flat;
using test::Random;
using test::with_processors;

TEST(FreeOrder, NumbersOfNearImagesFollowEachOther) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const int n = random.in(0, 10), k = random.in(0, n);
    const gf2::BitMatrix map = test::random_map(random, n).matrix.block(0, 0, n, k);
    const FreeOrder order = free_order(map);
    ASSERT_EQ(order.map, map * order.order);
    ASSERT_TRUE(order.order.inverse());
    // Those whose images are below 2^t are the first ones.
    for (int t = 0; t <= n; ++t) {
      uint64_t near = 0;
      for (uint64_t j = 0; j < uint64_t{1} << k; ++j) near += order.map(j) < uint64_t{1} << t;
      for (uint64_t j = 0; j < uint64_t{1} << k; ++j) ASSERT_EQ(order.map(j) < uint64_t{1} << t, j < near);
    }
    for (int j = 0; j < order.lg_run; ++j) ASSERT_EQ(order.map.column(j), gf2::unit(j));
  }
}

// Element x before, rounds of chunks, and after, by the plan's numbers alone.
uint64_t moved(const RoundsOnFiles& plan, uint64_t x, uint64_t element_bytes) {
  const int lg_block = plan.rounds().lg_block(), lg_chunk = plan.rounds().lg_chunk();
  const uint64_t at = plan.before()(x), sender = at >> lg_block, place = at & gf2::low_mask(lg_block);
  uint64_t round = 0;
  while (plan.chunk(round) != place >> lg_chunk) ++round;
  const auto to = plan.scatter(sender, round);
  const uint64_t elements = to.piece_bytes / element_bytes, within = place & gf2::low_mask(lg_chunk);
  Word piece = to.offset;
  for (std::size_t j = 0; j < to.places.size(); ++j) {
    if (within / elements >> j & 1) piece ^= to.places[j];
  }
  const uint64_t arrived =
      plan.rounds().target(sender, round) << lg_block | (piece * elements + within % elements);
  return plan.after()(arrived);
}

TEST(RoundsOnFiles, MovesEveryElementToItsPlace) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    const int n = random.in(0, 9), p = random.in(0, n), f = random.in(0, n - p);
    const uint64_t bytes = random.in(1U, 9U);
    const gf2::AffineMap map = test::random_map(random, n);
    const RoundsOnFiles plan(flat(map, bytes), f, with_processors(uint64_t{1} << p));
    for (uint64_t x = 0; x < uint64_t{1} << n; ++x) ASSERT_EQ(moved(plan, x, bytes), map(x)) << n << " " << p;
  }
}

TEST(RoundsOnFiles, WhatGoesToABatchLiesTogether) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 60; ++i) {
    const int n = random.in(12, 23), p = random.in(4, 9);
    const gf2::AffineMap map = i % 3 == 0 ? bmmc::bit_reverse(n) : test::random_map(random, n);
    const RoundsOnFiles plan(flat(map, 8), {}, with_processors(uint64_t{1} << p));
    ASSERT_EQ(plan.processors(), uint64_t{1} << p);
    ASSERT_EQ(plan.processors() % plan.batch(), 0U);
    const uint64_t sender = random.in(uint64_t{0}, plan.processors() - 1);
    std::vector<std::set<uint64_t>> runs(plan.processors() / plan.batch());
    std::vector<uint64_t> chunks(runs.size(), 0);
    for (uint64_t round = 0; round < plan.rounds().steps(); ++round) {
      const uint64_t batch = plan.rounds().target(sender, round) / plan.batch();
      runs[batch].insert(plan.chunk(round) / plan.chunks_together());
      ++chunks[batch];
    }
    for (std::size_t b = 0; b < runs.size(); ++b) {
      ASSERT_EQ(runs[b].size() * plan.chunks_together(), chunks[b]);
      if (!plan.before().is_identity()) {
        ASSERT_LE(runs[b].size(), 1U);
      }
    }
  }
}

TEST(RoundsOnFiles, KeepsWithinTheMemory) {
  Random random;
  SEED_TRACE(random);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const int n = random.in(0, 36);
    const uint64_t memory = (uint64_t{16} * MiB) << random.in(0, 8);
    const auto wanted =
        random.in(0, 1) == 0 ? std::nullopt : std::optional(uint64_t{1} << random.in(0, std::min(n, 15)));
    ProcessorSetting given = with_processors(wanted, memory);
    if (random.in(0, 1) == 0) given.link_times = schedule::LinkTimes{};
    try {
      const RoundsOnFiles plan(flat(bmmc::bit_reverse(n), 8), {}, given);
      EXPECT_LE(plan.pass().memory, memory);
      EXPECT_EQ(plan.pass().bytes_read, uint64_t{8} << n);
      EXPECT_EQ(plan.pass().tiles * plan.pass().tile_bytes, uint64_t{8} << n);
      EXPECT_GT(plan.pass().predicted_seconds, 0);
      // More processors at a time would be too much, unless there are no more. If messages are not timed, it
      // may be that these take less time.
      const bool enough = !given.link_times && plan.batch() * plan.block_bytes() >= 8 * MiB;
      EXPECT_TRUE(plan.batch() == plan.processors() || enough ||
                  plan.pass().memory + 3 * plan.batch() * plan.block_bytes() > memory);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_LT(refused, 200);
}

// Fresh memory takes time: with more memory a plan is never slower, and a large array is not held in it.
TEST(RoundsOnFiles, MoreMemoryIsTakenOnlyWhereItGains) {
  for (int n = 20; n <= 32; ++n) {
    double least = std::numeric_limits<double>::infinity();
    const uint64_t least_memory = std::max(64 * MiB, uint64_t{8} << (n - 2));  // for three of 16 blocks
    for (uint64_t memory = least_memory; memory <= 64 * GiB; memory *= 2) {
      const RoundsOnFiles plan(flat(bmmc::bit_reverse(n), 8), {}, with_processors(16, memory));
      EXPECT_LE(plan.pass().predicted_seconds, 1.1 * least + 0.05) << n << " " << memory;
      if (plan.pass().bytes_read >= 256 * MiB) {
        EXPECT_LE(plan.pass().memory, plan.pass().bytes_read / 2) << plan.describe();
      }
      least = std::min(least, plan.pass().predicted_seconds);
    }
  }
}

TEST(RoundsOnFiles, SaysHowMuchMemoryWouldDo) {
  Random random;
  SEED_TRACE(random);
  const std::regex amount("buffers take (\\d+) MiB");
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const int n = random.in(22, 36);
    const uint64_t processors = uint64_t{1} << random.in(0, 6);
    const bool mapped = random.in(0, 1) == 0;
    const auto refusal = [&](uint64_t mebibytes) -> std::string {
      try {
        ProcessorSetting limits = with_processors(processors, mebibytes * MiB);
        limits.mapped = mapped;
        RoundsOnFiles(flat(bmmc::bit_reverse(n), 8), {}, limits);
        return {};
      } catch (const InputError& error) {
        return error.what();
      }
    };
    const std::string text = refusal(random.in(uint64_t{16}, uint64_t{200}));
    std::smatch found;
    if (!std::regex_search(text, found, amount)) continue;
    const uint64_t enough = std::stoull(found[1]);
    EXPECT_EQ(refusal(enough), "") << text;
    EXPECT_NE(refusal(enough - 1), "") << text;
    ++refused;
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace xorder::plan
