#include "plan/cost.hpp"

#include <gtest/gtest.h>

#include "byte_units.hpp"
#include "plan/plan.hpp"
#include "plan/tiles/choose_tiles.hpp"
#include "seed.hpp"

namespace xorder::plan {
namespace {

// Reads at 1 GB/s, writes at 500 MB/s, and half a second less for 1 GB both ways at once than one after the
// other.
Conditions simple() {
  Conditions c;
  c.device.points = {{1'000'000, 1e9, 5e8, 4e8}};
  c.host.permuted_bytes_per_second = 1e12;
  return c;
}

Load gigabyte(std::uint64_t tiles, std::uint64_t memory = 0) {
  return {.bytes = 1'000'000'000,
          .read_block = 1'000'000,
          .write_block = 1'000'000,
          .tiles = tiles,
          .memory = memory};
}

TEST(Cost, ASingleTileIsReadAndThenWritten) { EXPECT_NEAR(pass_seconds(gigabyte(1), simple()), 1 + 2, 1e-9); }

// 1/5 of the reads alone, 1/5 of the writes alone, 4/5 of both together in 2.5 s.
TEST(Cost, WhatLiesBetweenTheFirstAndTheLastTileOverlaps) {
  EXPECT_NEAR(pass_seconds(gigabyte(5), simple()), 0.2 * 3 + 0.8 * 2.5, 1e-9);
}

TEST(Cost, OnlyFreshMemoryCosts) {
  Conditions c = simple();
  c.host.ready_memory = 400'000'000;
  c.host.ready_bytes_per_second = 4e9;
  c.host.fresh_bytes_per_second = 1e9;
  const double without = pass_seconds(gigabyte(5), c);
  EXPECT_NEAR(pass_seconds(gigabyte(5, 500'000'000), c), without + 0.1 + 0.1, 1e-9);
  c.touched_memory = 300'000'000;
  EXPECT_NEAR(pass_seconds(gigabyte(5, 500'000'000), c), without + 0.025 + 0.1, 1e-9);
  c.touched_memory = 600'000'000;
  EXPECT_NEAR(pass_seconds(gigabyte(5, 500'000'000), c), without, 1e-9);
}

TEST(Cost, PermutingIsTheFloor) {
  Conditions c = simple();
  c.host.permuted_bytes_per_second = 1e8;
  EXPECT_NEAR(pass_seconds(gigabyte(5), c), 10, 1e-9);
}

TEST(Cost, SupersetsAreReadToo) {
  Load load = gigabyte(1);
  load.read_excess = 1'000'000;
  EXPECT_NEAR(pass_seconds(load, simple()), 2 + 2, 1e-9);
}

// The limit is no goal: a plan that may use more is never slower, and uses more only where that is faster.
TEST(Cost, MoreMemoryIsTakenOnlyWhereItGains) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t w = std::uint64_t{1} << random.in(0, 3);
    const std::uint64_t rows = random.in(std::uint64_t{1000}, std::uint64_t{100'000});
    const std::uint64_t bytes = 64 * MiB << random.in(0, 8);
    const auto what = transposition({{rows, std::max<std::uint64_t>(1, bytes / w / rows)}, w, Order::c}, {});
    Conditions conditions;
    conditions.write_alignment = 4096;
    // A pool for three tiles keeps the disk busy, which has no price, and costs a small file some fresh memory.
    const double tolerance = bytes <= GiB ? 0.9 : 0.97;
    double last = 0;
    for (conditions.memory = 16 * GiB; conditions.memory >= 64 * MiB; conditions.memory /= 2) {
      const Plan plan = make_plan(what, conditions);
      // Another pass must save a fifth, so the planner compares a single pass with this.
      const double compared = plan.seconds() / (plan.passes.size() > 1 ? 0.8 : 1);
      EXPECT_GT(compared, last * tolerance) << conditions.memory << "\n" << plan.describe();
      last = compared;
      EXPECT_LE(static_cast<double>(plan.peak_memory()),
                static_cast<double>(conditions.host.ready_memory) +
                    plan.seconds() * conditions.host.fresh_bytes_per_second);
    }
  }
}

// A second pass must be predicted to save a fifth, and its scratch file costs time too.
TEST(Cost, ASecondPassMustSaveAFifth) {
  test::Random random;
  SEED_TRACE(random);
  int two = 0;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t rows = random.in(std::uint64_t{1000}, std::uint64_t{100'000});
    const auto what = transposition({{rows, random.in(1, 16) * GiB / rows}, 1, Order::c}, {});
    Conditions conditions;
    conditions.memory = std::uint64_t{64 * MiB} << random.in(0, 5);
    const Plan plan = make_plan(what, conditions);
    if (plan.passes.size() < 2) continue;
    ++two;
    conditions.host.freed_bytes_per_second /= 2;
    const double removal = scratch_seconds(plan.scratch_bytes(), conditions.host) / 2;
    const Plan slower = make_plan(what, conditions);
    if (slower.passes.size() == plan.passes.size()) {
      EXPECT_NEAR(slower.seconds(), plan.seconds() + removal, 1e-9 * plan.seconds());
      // It is the run's: in a run of several engines none of them counts it.
      for (std::size_t p = 0; p < plan.passes.size(); ++p)
        EXPECT_EQ(slower.passes[p].seconds, plan.passes[p].seconds);
    }
    const auto single = choose_pass(plan.what, conditions);
    EXPECT_TRUE(!single || plan.seconds() < 0.8 * single->seconds) << plan.describe();
  }
  EXPECT_GT(two, 0);
}

TEST(Cost, FourGibibytesNeedHalfAGibibyte) {
  const auto what = transposition({{16384, 32768}, 8, Order::c}, {});
  Conditions conditions;
  conditions.memory = 12 * GiB;
  const Plan plan = make_plan(what, conditions);
  EXPECT_EQ(plan.passes.size(), 1u);
  EXPECT_GE(plan.passes[0].tiling.tile_count(), 4u);
  EXPECT_LE(plan.peak_memory(), GiB);
}

}  // namespace
}  // namespace xorder::plan
