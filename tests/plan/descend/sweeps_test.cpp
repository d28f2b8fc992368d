// Sweeps and groups: together they are all iterations in their order, each has the records that it needs, and
// all keep within the memory.
#include "plan/descend/sweeps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "byte_units.hpp"
#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

// A function of everything that it is given, and of nothing twice.
uint64_t mixed(int b, uint64_t i, uint64_t x, uint64_t plus, uint64_t minus) {
  return x * 0x9E3779B97F4A7C15u + plus * 0xC2B2AE3D27D4EB4Fu + (minus << 7 ^ minus >> 3) +
         (i << 6 | static_cast<uint64_t>(b)) * 0x165667B19E3779F9u;
}

std::vector<uint64_t> by_definition(std::vector<uint64_t> a, int n, bool ascend) {
  const uint64_t mask = a.size() - 1;
  for (int t = 0; t < n; ++t) {
    const int b = ascend ? t : n - 1 - t;
    const uint64_t d = uint64_t{1} << b;
    std::vector<uint64_t> next(a.size());
    for (uint64_t i = 0; i < a.size(); ++i) next[i] = mixed(b, i, a[i], a[(i + d) & mask], a[(i - d) & mask]);
    a = std::move(next);
  }
  return a;
}

struct Strip {
  const Sweep& sweep;
  uint64_t column;
  uint64_t index(uint64_t place) const {
    const uint64_t columns = uint64_t{1} << sweep.lg_columns;
    return (place / columns << sweep.iterations.low) + column + place % columns;
  }
};

// A group on one slice, from that slice and those within its halo only; what is beyond them is noise.
void compute_slice(const SweepPlan& plan, const Strip& strip, Iterations group, uint64_t slice,
                   const std::vector<uint64_t>& from, std::vector<uint64_t>& to) {
  const uint64_t count = uint64_t{1} << strip.sweep.lg_slice, halo = strip.sweep.halo_slices(group) * count;
  const uint64_t first = slice * count - halo;
  std::vector<uint64_t> a(count + 2 * halo), next(a.size());
  for (uint64_t k = 0; k < a.size(); ++k) a[k] = from[(first + k) % from.size()];
  const int less = strip.sweep.iterations.low - strip.sweep.lg_columns;
  for (int t = 0; t < group.count(); ++t) {
    const int b = plan.task.ascend ? group.low + t : group.high - 1 - t;
    const uint64_t d = uint64_t{1} << b;
    const bool around = strip.sweep.gathered;  // then the slice is the strip
    const auto at = [&](uint64_t k) {
      if (around) return a[(k - halo) % count + halo];
      return k < a.size() ? a[k] : 12345;
    };
    for (uint64_t k = 0; k < a.size(); ++k)
      next[k] = mixed(b + less, strip.index((first + k) % from.size()), a[k], at(k + d), at(k - d));
    std::swap(a, next);
  }
  std::copy_n(a.begin() + static_cast<long>(halo), count, to.begin() + static_cast<long>(slice * count));
}

// The computation as the plan cuts it.
std::vector<uint64_t> by_plan(const SweepPlan& plan, std::vector<uint64_t> a) {
  for (const Sweep& sweep : plan.sweeps) {
    for (uint64_t column = 0; column < sweep.iterations.stride(); column += uint64_t{1} << sweep.lg_columns) {
      const Strip strip{sweep, column};
      std::vector<uint64_t> records(a.size() >> (sweep.iterations.low - sweep.lg_columns));
      for (uint64_t place = 0; place < records.size(); ++place) records[place] = a[strip.index(place)];
      for (const Iterations group : sweep.groups) {
        std::vector<uint64_t> made(records.size());
        for (uint64_t slice = 0; slice < records.size() >> sweep.lg_slice; ++slice)
          compute_slice(plan, strip, group, slice, records, made);
        records = made;
      }
      for (uint64_t place = 0; place < records.size(); ++place) a[strip.index(place)] = records[place];
    }
  }
  return a;
}

SweepSizes random_sizes(test::Random& random, int n) {
  return {.processors = uint64_t{random.in(0u, 1u)} << random.in(0, n),
          .columns = uint64_t{random.in(0u, 1u)} << random.in(0, 8),
          .slices = uint64_t{random.in(0u, 1u)} << random.in(0, 4),
          .iterations = random.in(uint64_t{0}, 4),
          .cache_bytes = uint64_t{1} << random.in(5, 14),
          .request_bytes = uint64_t{1} << random.in(5, 16)};
}

TEST(Sweeps, EverySliceHasWhatItNeeds) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < 300; ++round) {
    const int n = random.in(0, 11);
    const bool ascend = random.in(0, 1) == 1;
    const uint64_t bytes = uint64_t{1} << random.in(0, 5);
    const SweepTask task{.lg_size = n,
                         .ascend = ascend,
                         .record_bytes = bytes,
                         .output_bytes = random.in(0, 1) == 1 ? bytes : 3};
    const SweepPlan plan = plan_sweeps(task, {.memory = 18 * MiB}, random_sizes(random, n));
    std::vector<uint64_t> a(uint64_t{1} << n);
    for (uint64_t& x : a) x = random();
    ASSERT_EQ(by_plan(plan, a), by_definition(a, n, ascend)) << plan.describe();
  }
}

struct Case {
  SweepTask task;
  Setting setting;
};

// Any size, record, memory.
Case random_case(test::Random& random) {
  const uint64_t record = random.in(0, 3) == 0 ? random.in(uint64_t{1}, uint64_t{1} << random.in(3, 23))
                                               : uint64_t{1} << random.in(0, 5);
  return {{.lg_size = random.in(0, 36),
           .ascend = random.in(0, 1) == 1,
           .record_bytes = record,
           .input_bytes = random.in(0, 1) == 1 ? record : random.in(uint64_t{1}, record),
           .output_bytes = random.in(0, 1) == 1 ? record : random.in(uint64_t{1}, record)},
          {.memory = random.in(uint64_t{12}, 30) * MiB << random.in(0, 8),
           .threads = random.in(1u, 32u),
           .device = random.in(0, 1) == 1 ? Device::ssd() : Device::hdd()}};
}

TEST(Sweeps, AreAllIterationsInOrderWithinTheMemory) {
  test::Random random;
  SEED_TRACE(random);
  int planned = 0;
  for (int round = 0; round < 400; ++round) {
    const auto [c, setting] = random_case(random);
    SweepPlan plan;
    try {
      plan = plan_sweeps(c, setting);
    } catch (const InputError&) {
      EXPECT_GT(64 * c.record_bytes,
                setting.memory);  // only records that are large against the memory are refused
      continue;
    }
    ++planned;
    SCOPED_TRACE(plan.describe());
    int next = c.ascend ? 0 : c.lg_size;
    for (std::size_t i = 0; i < plan.sweeps.size(); ++i) {
      const Sweep& sweep = plan.sweeps[i];
      EXPECT_EQ(c.ascend ? sweep.iterations.low : sweep.iterations.high, next);
      next = c.ascend ? sweep.iterations.high : sweep.iterations.low;
      EXPECT_EQ(sweep.gathered, sweep.iterations.high == c.lg_size);
      EXPECT_LE(sweep.pass.memory, setting.memory);
      EXPECT_LE(sweep.lg_columns, sweep.iterations.low);
      int inside = sweep.lg_columns + (c.ascend ? 0 : sweep.iterations.count());
      for (const Iterations group : sweep.groups) {
        EXPECT_EQ(c.ascend ? group.low : group.high, inside);
        inside = c.ascend ? group.high : group.low;
        EXPECT_GE(sweep.lg_slice, group.low);
      }
      // Pieces are everything, and what is read is what was written before.
      EXPECT_EQ(sweep.pass.tiles * sweep.pass.tile_bytes, plan.task.array_bytes());
      const bool first = i == 0, last = i + 1 == plan.sweeps.size();
      EXPECT_EQ(sweep.pass.bytes_read, (first ? c.input_bytes : c.record_bytes) << c.lg_size);
      EXPECT_EQ(sweep.pass.bytes_written, (last ? c.output_bytes : c.record_bytes) << c.lg_size);
      EXPECT_EQ(sweep.in_place, !first && (!last || plan.scratch_bytes() == 0));
    }
    EXPECT_EQ(next, c.ascend ? c.lg_size : 0);
    EXPECT_EQ(plan.sweeps.size() == 1, plan.processors() == 1 || plan.lg_block == 0);
  }
  EXPECT_GT(planned, 200);
}

// Every iteration that does something is in one sweep, in order; no sweep is there for nothing; and the one
// between the blocks of virtual processors is theirs.
TEST(Sweeps, OfVirtualProcessorsAndOfWhatIsToDo) {
  test::Random random;
  SEED_TRACE(random);
  int planned = 0, whole = 0;
  for (int round = 0; round < 300; ++round) {
    auto [c, setting] = random_case(random);
    c.lg_size = random.in(0, 30);
    c.between = std::array{Between::threads, Between::aspc,
                           Between::pipelined}[random.in(std::size_t{0}, std::size_t{2})];
    if (random.in(0, 1) == 1) c.reads = {random() & random() & random(), random() & random() & random()};
    SweepSizes sizes;
    if (random.in(0, 1) == 1) sizes.processors = uint64_t{1} << random.in(0, std::min(c.lg_size, 10));
    SweepPlan plan;
    try {
      plan = plan_sweeps(c, setting, sizes);
    } catch (const InputError&) {
      continue;
    }
    ++planned;
    SCOPED_TRACE(plan.describe());
    const uint64_t all = (uint64_t{1} << c.lg_size) - 1;
    uint64_t left = (c.reads.plus | c.reads.minus) & all;
    if (left == 0) left = all;
    const auto busy = left;
    ASSERT_FALSE(plan.sweeps.empty());
    EXPECT_EQ(plan.sweeps.front().pass.bytes_read, c.input_bytes << c.lg_size);
    EXPECT_EQ(plan.sweeps.back().pass.bytes_written, c.output_bytes << c.lg_size);
    for (const Sweep& sweep : plan.sweeps) {
      const auto [low, high] = sweep.iterations;
      const uint64_t inside = ((uint64_t{1} << high) - 1) & ~((uint64_t{1} << low) - 1);
      EXPECT_TRUE(c.lg_size == 0 || (left & inside) != 0);
      left &= ~inside;
      EXPECT_EQ(c.ascend ? left & ((uint64_t{1} << low) - 1) : left >> high, 0u);
      EXPECT_LE(sweep.pass.memory, setting.memory);
      if (!sweep.nodes) continue;
      const NodeRuns& runs = *sweep.nodes;
      EXPECT_EQ(high, c.lg_size);
      EXPECT_EQ(low, runs.whole ? 0 : plan.lg_block);
      EXPECT_LE(runs.memory, sweep.pass.memory);
      EXPECT_LE(runs.lg_run + runs.lg_runs, runs.whole ? plan.lg_block : sweep.lg_columns);
      EXPECT_EQ(plan.schedule->network().nodes(), plan.processors());
      whole += runs.whole;
      EXPECT_TRUE(!runs.whole || c.lg_size <= 18);
    }
    EXPECT_EQ(left, 0u);
    const bool theirs = c.between != Between::threads && c.lg_size > 0 && busy >> plan.lg_block != 0;
    const bool have = plan.nodes() != nullptr;
    EXPECT_TRUE(have == theirs || (have && plan.nodes()->whole)) << plan.lg_block;
  }
  EXPECT_GT(planned, 150);
  EXPECT_GT(whole, 3);
}

// The whole schedule is for few records, in at most half of the memory.
TEST(Sweeps, OnlyFewRecordsGoThroughTheWholeSchedule) {
  const auto is_whole = [](int lg_size, uint64_t record_bytes, uint64_t memory) {
    SweepTask c;
    c.between = Between::pipelined;
    c.lg_size = lg_size;
    c.record_bytes = c.input_bytes = c.output_bytes = record_bytes;
    const SweepPlan plan = plan_sweeps(c, {.memory = memory});
    return plan.nodes() != nullptr && plan.nodes()->whole;
  };
  EXPECT_TRUE(is_whole(18, 8, uint64_t{1} << 30));
  EXPECT_FALSE(is_whole(19, 8, uint64_t{1} << 30));
  EXPECT_TRUE(is_whole(18, 64, uint64_t{1} << 30));
  EXPECT_FALSE(is_whole(18, 64, uint64_t{24} << 20));
}

// All memory is there already.
constexpr Host resident{.ready_memory = std::numeric_limits<std::uint64_t>::max(),
                        .ready_bytes_per_second = 1e18};

// A task of elements of 8 bytes.
SweepTask of_numbers(int lg_size, bool ascend = false) {
  return {.lg_size = lg_size, .ascend = ascend, .record_bytes = 8, .input_bytes = 8, .output_bytes = 8};
}

TEST(Sweeps, NoOtherCutTakesLessTime) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < 60; ++round) {
    const SweepTask c = of_numbers(random.in(20, 33), random.in(0, 1) == 1);
    const Setting setting{.memory = 16 * MiB << random.in(0, 4), .threads = 2, .host = resident};
    const double best = plan_sweeps(c, setting).seconds();
    for (int p = 0; p <= c.lg_size; ++p) {
      try {
        const SweepSizes other{.processors = uint64_t{1} << p, .iterations = random.in(uint64_t{0}, 8)};
        EXPECT_LE(best, plan_sweeps(c, setting, other).seconds() * (1 + 1e-6));
      } catch (const InputError&) {
      }
    }
  }
}

// 2 GiB in 16 MiB: with a single sweep between blocks requests would be of 1 KiB.
TEST(Sweeps, LittleMemoryTakesMoreSweepsNotSmallRequests) {
  const auto with = [](uint64_t memory) {
    return plan_sweeps(of_numbers(28), {.memory = memory, .threads = 2, .host = resident});
  };
  const SweepPlan little = with(16 * MiB), more = with(64 * MiB);
  EXPECT_EQ(little.sweeps.size(), 3u);
  for (const Sweep& sweep : little.sweeps) EXPECT_GE(sweep.pass.source_block_bytes, 32u << 10);
  EXPECT_LE(little.seconds(), 3 * more.seconds());
  EXPECT_EQ(with(272 * MiB).sweeps.size(), 2u);
  EXPECT_EQ(with(5334 * MiB).sweeps.size(), 1u);
}

// Records that are larger than any cache: twice the array, and what threads need.
TEST(Sweeps, LargeRecordsFitInMemoryTwice) {
  const SweepTask c{.lg_size = 5, .record_bytes = 8 * MiB, .input_bytes = 8 * MiB, .output_bytes = 8 * MiB};
  const auto with = [&](uint64_t memory) {
    return plan_sweeps(c, {.memory = memory, .threads = 2, .host = resident});
  };
  EXPECT_EQ(with(615 * MiB).sweeps.size(), 1u);
  EXPECT_GT(with(136 * MiB).sweeps.size(), 1u);
  EXPECT_THAT(test::message_of<InputError>([&] { with(17 * MiB); }), testing::HasSubstr("120 MiB would do"));
}

// Fresh memory takes time: with more memory a plan is never slower, and a large array is not held in it.
TEST(Sweeps, MoreMemoryIsTakenOnlyWhereItGains) {
  for (int n = 10; n <= 33; ++n) {
    for (const bool ascend : {false, true}) {
      double least = std::numeric_limits<double>::infinity();
      for (uint64_t memory = 64 * MiB; memory <= 64 * GiB; memory *= 2) {
        const SweepPlan plan = plan_sweeps(of_numbers(n, ascend), {.memory = memory, .threads = 2});
        uint64_t taken = 0;
        for (const Sweep& sweep : plan.sweeps) taken = std::max(taken, sweep.pass.memory);
        const double whole = plan.seconds();
        EXPECT_LE(whole, least * (1 + 1e-9)) << n << " " << memory;
        if (plan.task.array_bytes() >= 256 * MiB) {
          EXPECT_LE(taken, plan.task.array_bytes() / 2) << plan.describe();
        }
        least = std::min(least, whole);
      }
    }
  }
}

// A refusal names memory that does, and of which a MiB less does not.
TEST(Sweeps, RefusalsNameEnoughMemory) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    SweepTask c{.lg_size = random.in(1, 8),
                .ascend = random.in(0, 1) == 1,
                .record_bytes = random.in(std::uint64_t{64 << 10}, 32 * MiB)};
    Setting setting{.memory = 16 * MiB, .threads = random.in(1u, 16u)};
    c.input_bytes = c.output_bytes = c.record_bytes;
    c.between = std::array{Between::threads, Between::aspc,
                           Between::pipelined}[random.in(std::size_t{0}, std::size_t{2})];
    try {
      plan_sweeps(c, setting);
      continue;
    } catch (const InputError& error) {
      const std::string text = error.what();
      constexpr std::string_view before = "need more memory; ";
      const std::size_t at = text.find(before);
      ASSERT_NE(at, std::string::npos) << text;
      setting.memory = std::stoull(text.substr(at + before.size())) * MiB;
    }
    for (const Sweep& sweep : plan_sweeps(c, setting).sweeps) EXPECT_LE(sweep.pass.memory, setting.memory);
    setting.memory -= MiB;
    EXPECT_THROW(plan_sweeps(c, setting), InputError) << setting.memory;
  }
}

}  // namespace
}  // namespace xorder::plan
