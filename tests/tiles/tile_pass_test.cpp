// A pass of tiles over real files, and over a disk that fails.
#include "tiles/tile_pass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "io/disks.hpp"
#include "plan/reference.hpp"
#include "task/workers.hpp"
#include "work/meter.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

io::File scratch(const std::string& name, std::uint64_t bytes, io::Access access, io::Disk& disk) {
  return io::File::create_nameless(testing::TempDir(), name, bytes, access, disk);
}

struct Setting {
  io::Access access;
  io::QueueKind kind;
};

struct Files {
  std::unique_ptr<work::Meter> meter;
  io::File source, target;
  std::vector<std::byte> data;
  std::uint64_t source_offset, target_offset;
  std::shared_ptr<const plan::SourceFiles> strided{};
};

Files make_files(test::Random& random, const Reordering& what, io::Access access) {
  const std::uint64_t source_offset = random.in(0, 1) ? 0 : random.in(1, 5000);
  const std::uint64_t target_offset = random.in(0, 1) ? 0 : 4096;
  auto meter = std::make_unique<work::Meter>(io::system_disk());
  io::Disk& disk = *meter;
  Files files{std::move(meter),
              scratch("source", source_offset + what.bytes(), access, disk),
              scratch("target", target_offset + what.bytes(), access, disk),
              test::random_bytes(random, what.bytes()),
              source_offset,
              target_offset};
  files.source.write_exactly(files.data.data(), files.data.size(), source_offset);
  files.source.sync();
  files.meter->restart();
  return files;
}

// The same elements with gaps and backwards, perhaps with their bytes in another order.
Files make_strided_files(test::Random& random, const Reordering& what, io::Access access) {
  const std::uint64_t w = what.element_bytes, source_offset = random.in(0, 1) ? 0 : random.in(1, 5000);
  std::vector<ElementPiece> pieces;
  std::uint64_t reached = w;
  if (random.in(0, 2) == 0) {
    pieces = {{random.in(std::uint64_t{0}, std::uint64_t{2}), w, w % 4 == 0 ? 4u : 1u}};
    reached += pieces[0].offset;
  }
  std::vector<plan::StridedAxis> axes;
  for (std::size_t i = what.extents.size(); i-- > 0;) {
    const std::uint64_t gap =
        random.in(0, 2) == 0
            ? 0
            : random.in(std::uint64_t{0}, std::uint64_t{1} << random.in(0, what.elements() > 2000 ? 5 : 12));
    axes.insert(axes.begin(), {what.extents[i], reached + gap, random.in(0, 2) == 0});
    reached += (what.extents[i] - 1) * axes[0].stride;
  }
  const plan::StridedSource strided(axes, w, pieces);
  auto meter = std::make_unique<work::Meter>(io::system_disk());
  io::Disk& disk = *meter;
  Files files{std::move(meter),
              scratch("source", source_offset + reached, access, disk),
              scratch("target", what.bytes(), access, disk),
              {},
              source_offset,
              0};
  if (!strided.trivial()) files.strided = std::make_shared<plan::SourceFiles>(std::vector{strided});
  const std::vector<std::byte> bytes = test::random_bytes(random, reached);
  for (std::uint64_t x = 0; x < what.elements(); ++x) {
    std::uint64_t rest = x, place = pieces.empty() ? 0 : pieces[0].offset;
    for (std::size_t i = axes.size(); i-- > 0; rest /= axes[i].extent) {
      const std::uint64_t c = rest % axes[i].extent;
      place += (axes[i].backwards ? axes[i].extent - 1 - c : c) * axes[i].stride;
    }
    for (std::uint64_t b = 0; b < w; ++b)
      files.data.push_back(bytes[place + (!pieces.empty() && w % 4 == 0 ? b ^ 3 : b)]);
  }
  files.source.write_exactly(bytes.data(), bytes.size(), source_offset);
  files.source.sync();
  files.meter->restart();
  return files;
}

// Requests of at most this size are worth their while, so that small arrays make many tiles and groups.
plan::Plan plan_for(const Reordering& what, const Files& files, std::uint64_t largest_request) {
  plan::Setting c;
  c.memory = plan::least_plan_memory;
  c.device.points = {{largest_request, 1e9, 1e9}};
  c.group_bytes = 16 * largest_request;
  c.chunk_bytes = 200;
  c.source_offset = files.source_offset;
  c.strided = files.strided;
  c.target_offset = files.target_offset;
  c.read_alignment = std::max(files.source.offset_alignment(), files.source.memory_alignment());
  c.write_alignment = std::max(files.target.write_alignment(), files.target.memory_alignment());
  return plan::make_plan(what, c);
}

void perform(
    const plan::Plan& plan, const Files& files, io::Queue& queue, io::BlockMemory& memory,
    std::stop_token stop = {}, const std::function<void()>& tick = [] {}) {
  task::Workers workers(2);
  const PassFiles both{{{files.source, files.source_offset}},
                       {files.target, files.target_offset},
                       plan.setting.read_alignment,
                       plan.setting.write_alignment};
  run_pass(plan.passes.at(0), both, queue, {memory, workers, tick, stop});
}

void perform(
    const plan::Plan& plan, const Files& files, io::Queue& queue, std::stop_token stop = {},
    const std::function<void()>& tick = [] {}) {
  io::BlockMemory memory = memory_for(plan.passes);
  perform(plan, files, queue, memory, stop, tick);
}

std::string setting_name(const testing::TestParamInfo<Setting>& setting) {
  constexpr const char* access_names[] = {"Direct", "Buffered", "Mapped"};
  constexpr const char* kind_names[] = {"Uring", "Threads", "InMemory", "Mapped"};
  return std::string(access_names[static_cast<int>(setting.param.access)]) +
         kind_names[static_cast<int>(setting.param.kind)];
}

void expect_performed(const Reordering& what, const Files& files) {
  std::vector<std::byte> result(what.bytes());
  files.target.sync();
  files.target.read_exactly(result.data(), result.size(), files.target_offset);
  ASSERT_EQ(result, test::performed(what, files.data));
}

class TilePassEngines : public testing::TestWithParam<Setting> {};

TEST_P(TilePassEngines, EveryElementArrives) {
  if (GetParam().kind == io::QueueKind::uring && !io::uring_available())
    GTEST_SKIP() << "io_uring is forbidden here";
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 40; ++i) {
    const Reordering what = test::random_reordering(random, 4);
    const Files files = make_files(random, what, GetParam().access);
    const auto plan = plan_for(what, files, std::uint64_t{1} << random.in(6, 14));
    if (plan.passes.size() != 1) continue;
    perform(plan, files, *files.meter->queue(GetParam().kind, random.in(2u, 64u)));
    const work::Meter::Count counters = files.meter->count();
    EXPECT_GE(counters.bytes_read, what.bytes());
    EXPECT_EQ(counters.bytes_written, what.bytes());
    ASSERT_NO_FATAL_FAILURE(expect_performed(what, files)) << "case " << i;
  }
}

TEST_P(TilePassEngines, EveryElementOfAStridedSourceArrives) {
  if (GetParam().kind == io::QueueKind::uring && !io::uring_available())
    GTEST_SKIP() << "io_uring is forbidden here";
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 40; ++i) {
    const Reordering what = test::random_reordering(random, 4);
    const Files files = make_strided_files(random, what, GetParam().access);
    const auto plan = plan_for(what, files, std::uint64_t{1} << random.in(6, 14));
    if (plan.passes.size() != 1) continue;
    EXPECT_LE(plan.passes[0].memory(), plan::least_plan_memory);
    perform(plan, files, *files.meter->queue(GetParam().kind, random.in(2u, 64u)));
    EXPECT_EQ(files.meter->count().bytes_written, what.bytes());
    ASSERT_NO_FATAL_FAILURE(expect_performed(what, files)) << "case " << i;
  }
}

// One byte of each 64 KiB.
TEST(TilePass, AVerySparseSourceFitsInLittleMemory) {
  for (const std::uint64_t alignment : {1, 4096}) {
    plan::Setting c;
    c.memory = plan::least_plan_memory;
    c.read_alignment = alignment;
    c.write_alignment = 4096;
    const plan::StridedSource far({{std::uint64_t{1} << 20, 65536, false}}, 1, {});
    c.strided = std::make_shared<plan::SourceFiles>(std::vector{far});
    for (const Reordering& what : {transposition({{1024, 1024}, 1, Order::c}, {}),
                                   mapping_of_all({{1 << 20}, 1, Order::c}, bmmc::bit_reverse(20))}) {
      const plan::Plan plan = plan::make_plan(what, c);
      EXPECT_LE(plan.peak_memory(), c.memory);
      EXPECT_EQ(plan.passes[0].bytes_read(), what.bytes());
    }
  }
}

// Whatever another pass, or something else, has left in it. Passes of several MiB use huge pages.
TEST(TilePass, PassesShareTheirMemory) {
  test::Random random;
  SEED_TRACE(random);
  std::vector<plan::Plan> plans;
  std::vector<plan::Pass> passes;
  std::vector<Files> files;
  while (plans.size() < 8) {
    const bool large = plans.size() % 2 == 1;
    const Reordering what = large ? transposition({{random.in(500u, 1000u), 1000}, 8, Order::c}, {})
                                  : test::random_reordering(random, 4);
    Files made = make_files(random, what, large ? io::Access::direct : io::Access::buffered);
    plan::Plan plan = plan_for(what, made, std::uint64_t{1} << random.in(large ? 12 : 6, 14));
    if (plan.passes.size() != 1) continue;
    passes.push_back(plan.passes[0]);
    plans.push_back(std::move(plan));
    files.push_back(std::move(made));
  }
  io::BlockMemory memory = memory_for(passes);
  EXPECT_GT(memory.size(), std::uint64_t{2} << 20);
  std::fill_n(memory.data(), memory.size() / 2, std::byte{0xA5});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    perform(plans[i], files[i], *files[i].meter->queue(io::QueueKind::threads, 8), memory);
    ASSERT_NO_FATAL_FAILURE(expect_performed(plans[i].what, files[i])) << "case " << i;
  }
}

// A queue whose transfers are still in flight when wait() fails.
class BrokenQueue : public io::Queue {
 public:
  BrokenQueue(std::unique_ptr<io::Queue> queue, int waits) : queue_(std::move(queue)), waits_(waits) {}
  unsigned depth() const override { return queue_->depth(); }
  void submit(const io::Transfer& transfer) override { queue_->submit(transfer); }
  void post(std::uint64_t token) override { queue_->post(token); }
  void wait(std::vector<io::Completion>& done) override {
    if (waits_-- == 0) throw std::runtime_error("broken");
    queue_->wait(done);
  }

 private:
  std::unique_ptr<io::Queue> queue_;
  int waits_;
};

// Transfers still use it.
TEST(TilePass, MemoryOutlivesABrokenQueue) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{500, 700}, 8, Order::c}, {});
  const Files files = make_files(random, what, io::Access::buffered);
  const auto plan = plan_for(what, files, 2048);
  for (const int waits : {0, 1, 7}) {
    io::BlockMemory memory = memory_for(plan.passes);
    BrokenQueue queue(files.meter->queue(io::QueueKind::threads, 8), waits);
    EXPECT_THROW(perform(plan, files, queue, memory), std::runtime_error);
    EXPECT_EQ(memory.data(), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TilePassEngines,
                         testing::Values(Setting{io::Access::direct, io::QueueKind::uring},
                                         Setting{io::Access::direct, io::QueueKind::threads},
                                         Setting{io::Access::direct, io::QueueKind::in_memory},
                                         Setting{io::Access::buffered, io::QueueKind::uring},
                                         Setting{io::Access::buffered, io::QueueKind::threads},
                                         Setting{io::Access::mapped, io::QueueKind::mapped}),
                         setting_name);

TEST(TilePass, APlanWithTooFewChunksFailsInsteadOfWaiting) {
  test::Random random;
  SEED_TRACE(random);
  const auto what = canonical(transposition({{512, 512}, 8, Order::c}, {}));
  const Files files = make_files(random, what, io::Access::buffered);
  auto plan = plan_for(what, files, 1 << 12);
  plan.passes.at(0).chunk_count = 1;
  try {
    perform(plan, files, *files.meter->queue(io::QueueKind::threads, 8));
    ADD_FAILURE() << "it came to an end";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "internal error: a step exceeds its memory");
  }
}

// Rows of 4 KiB of a transposed matrix, each a run of its own.
TEST(TilePass, RunsThatFollowEachOtherAreWrittenTogether) {
  test::Random random;
  SEED_TRACE(random);
  const auto what = canonical(transposition({{4096, 2048}, 1, Order::c}, {}));
  plan::Setting c;
  c.memory = std::uint64_t{64} << 20;
  c.device.points = {{std::uint64_t{1} << 20, 1e9, 1e9}};
  const plan::Plan plan = plan::make_plan(what, c);
  ASSERT_EQ(plan.passes.size(), 1U);
  ASSERT_EQ(plan.passes[0].tiling.tile_count(), 1U);
  EXPECT_EQ(plan.passes[0].tiling.target_shape().run_count, 2048U);
  EXPECT_EQ(plan.passes[0].target_block_bytes, what.bytes());
  work::Meter meter(io::system_disk());
  const Files files{nullptr,
                    scratch("source", what.bytes(), io::Access::buffered, meter),
                    scratch("target", what.bytes(), io::Access::buffered, meter),
                    test::random_bytes(random, what.bytes()),
                    0,
                    0};
  files.source.write_exactly(files.data.data(), files.data.size(), 0);
  meter.restart();
  perform(plan, files, *meter.queue(io::QueueKind::threads, 8));
  EXPECT_EQ(meter.count().writes, 8U);
  std::vector<std::byte> result(what.bytes());
  files.target.read_exactly(result.data(), result.size(), 0);
  EXPECT_EQ(result, test::performed(what, files.data));
}

// Rows of 4001 bytes that follow each other, written by requests of 128 KiB: no row begins where a block of the
// file does, and most requests begin and end within a row.
TEST(TilePass, RunsThatAreNotAlignedAreWrittenTogether) {
  test::Random random;
  SEED_TRACE(random);
  const auto what = canonical(transposition({{4001, 4099}, 1, Order::c}, {}));
  const Files files = make_files(random, what, io::Access::direct);
  const plan::Plan plan = plan_for(what, files, std::uint64_t{1} << 20);
  ASSERT_EQ(plan.passes.size(), 1U);
  EXPECT_GT(plan.passes[0].tiling.tile_count(), 1U);
  EXPECT_EQ(plan.passes[0].tiling.target_shape().run_elements, 4001U);
  EXPECT_GT(plan.passes[0].target_block_bytes, plan.passes[0].write_slot_bytes);
  perform(plan, files, *files.meter->queue(io::QueueKind::threads, 16));
  expect_performed(what, files);
}

// Fail the N-th transfer for every N: always the error of that transfer, never a hang, never silence.
TEST(TilePass, EveryFailingTransferIsReported) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{100, 150}, 8, Order::c}, {});
  const Files files = make_files(random, what, io::Access::buffered);
  const auto plan = plan_for(what, files, 256);
  perform(plan, files, *files.meter->queue(io::QueueKind::threads, 8));
  const work::Meter::Count whole = files.meter->count();
  ASSERT_GT(whole.reads, 20u);
  ASSERT_GT(whole.writes, 20u);
  for (const auto kind : {io::Transfer::Kind::read, io::Transfer::Kind::write}) {
    const bool read = kind == io::Transfer::Kind::read;
    const auto count = static_cast<int>(read ? whole.reads : whole.writes);
    for (int n = 0; n < count; n += 1 + count / 40) {
      test::FailingDisk disk;
      disk.fail_transfer(kind, n);
      try {
        perform(plan, files, *disk.queue(io::QueueKind::threads, 8));
        ADD_FAILURE() << "transfer " << n << " failed in silence";
      } catch (const IoError& e) {
        EXPECT_EQ(e.code(), EIO);
        EXPECT_EQ(e.path(), read ? files.source.name() : files.target.name());
        EXPECT_TRUE(e.offset().has_value());
        EXPECT_THAT(e.what(), testing::HasSubstr(read ? "read" : "write"));
      }
    }
  }
}

TEST(TilePass, WhatTheTickThrowsIsThrownWhenNothingIsInFlightAnyMore) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{500, 700}, 8, Order::c}, {});
  const Files files = make_files(random, what, io::Access::buffered);
  const auto plan = plan_for(what, files, 2048);
  for (int n = 1; n < 400; n += 23) {
    int ticks = 0;
    const auto tick = [&] {
      if (++ticks >= n) throw std::logic_error("the caller's");
    };
    EXPECT_THROW(perform(plan, files, *files.meter->queue(io::QueueKind::threads, 8), {}, tick),
                 std::logic_error);
  }
}

TEST(TilePass, StopsWhenAsked) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{2000, 3000}, 8, Order::c}, {});
  const Files files = make_files(random, what, io::Access::buffered);
  const auto plan = plan_for(what, files, std::uint64_t{64} << 10);
  const auto queue = files.meter->queue(io::QueueKind::threads, 8);
  std::stop_source stop;
  std::atomic<std::uint64_t> seen = 0;
  EXPECT_THROW(perform(plan, files, *queue, stop.get_token(),
                       [&] {
                         seen = files.meter->count().bytes_read;
                         if (seen > what.bytes() / 4) stop.request_stop();
                       }),
               Cancelled);
  EXPECT_LT(seen, what.bytes());
}

}  // namespace
}  // namespace xorder::tiles
