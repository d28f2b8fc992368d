// The pipeline over real files, and over a disk that fails.
#include "tiles/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "plan/reference.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

io::File scratch(const std::string& name, std::uint64_t bytes, io::Access access) {
  return io::File::create_nameless(testing::TempDir(), name, bytes, access);
}

// Passes transfers on, except that the `fail_at`-th one of a kind completes with an error.
class FailingQueue : public io::Queue {
 public:
  FailingQueue(std::unique_ptr<io::Queue> inner, io::Transfer::Kind kind, int fail_at)
      : inner_(std::move(inner)), kind_(kind), countdown_(fail_at) {}
  unsigned depth() const override { return inner_->depth(); }
  void submit(const io::Transfer& transfer) override {
    if (transfer.kind == kind_ && countdown_-- == 0) {
      failed_.push_back({transfer.token, EIO, transfer.offset});
      inner_->post(wake_up);
    } else {
      inner_->submit(transfer);
    }
  }
  void post(std::uint64_t token) override { inner_->post(token); }
  void wait(std::vector<io::Completion>& done) override {
    inner_->wait(done);
    std::erase_if(done, [](const io::Completion& c) { return c.token == wake_up; });
    done.insert(done.end(), failed_.begin(), failed_.end());
    failed_.clear();
  }
  const char* name() const override { return "failing"; }

 private:
  static constexpr std::uint64_t wake_up = ~std::uint64_t{0};
  std::unique_ptr<io::Queue> inner_;
  io::Transfer::Kind kind_;
  int countdown_;
  std::vector<io::Completion> failed_;
};

struct Setting {
  io::Access access;
  io::Engine engine;
};

struct Files {
  io::File source, target;
  std::vector<std::byte> data;
  std::uint64_t source_offset, target_offset;
};

Files make_files(test::Random& random, const Reordering& what, io::Access access) {
  const std::uint64_t source_offset = random.in(0, 1) ? 0 : random.in(1, 5000);
  const std::uint64_t target_offset = random.in(0, 1) ? 0 : 4096;
  Files files{scratch("source", source_offset + what.bytes(), access),
              scratch("target", target_offset + what.bytes(), access),
              test::random_bytes(random, what.bytes()), source_offset, target_offset};
  files.source.write_exactly(files.data.data(), files.data.size(), source_offset);
  files.source.sync();
  return files;
}

// Requests of at most this size are worth their while, so that small arrays make many tiles and groups.
plan::Plan plan_for(const Reordering& what, const Files& files, std::uint64_t largest_request) {
  plan::Conditions c;
  c.memory = plan::minimum_memory;
  c.device.points = {{largest_request, 1e9, 1e9}};
  c.group_bytes = 16 * largest_request;
  c.chunk_bytes = 200;
  c.source_offset = files.source_offset;
  c.target_offset = files.target_offset;
  c.read_alignment = std::max(files.source.offset_alignment(), files.source.memory_alignment());
  c.write_alignment = std::max(files.target.write_alignment(), files.target.memory_alignment());
  return plan::make_plan(what, c);
}

PassCounters perform(
    const plan::Plan& plan, const Files& files, io::Queue& queue, std::stop_token stop = {},
    const std::function<void(const PassCounters&)>& progress = [](const PassCounters&) {}) {
  task::Workers workers(2);
  return run_pass(plan.passes.at(0), {files.source, files.source_offset}, {files.target, files.target_offset},
                  plan.conditions.read_alignment, plan.conditions.write_alignment, queue, workers.arena,
                  progress, stop);
}

std::string setting_name(const testing::TestParamInfo<Setting>& setting) {
  constexpr const char* access_names[] = {"Direct", "Buffered", "Mapped"};
  constexpr const char* engine_names[] = {"Uring", "Threads", "Mapped"};
  return std::string(access_names[static_cast<int>(setting.param.access)]) +
         engine_names[static_cast<int>(setting.param.engine)];
}

class PipelineEngines : public testing::TestWithParam<Setting> {};

TEST_P(PipelineEngines, EveryElementArrives) {
  if (GetParam().engine == io::Engine::uring && !io::uring_available())
    GTEST_SKIP() << "io_uring is forbidden here";
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 40; ++i) {
    const Reordering what = test::random_reordering(random, 4);
    const Files files = make_files(random, what, GetParam().access);
    const auto plan = plan_for(what, files, std::uint64_t{1} << random.in(6, 14));
    if (plan.passes.size() != 1) continue;
    const auto queue = io::make_queue(GetParam().engine, random.in(2u, 64u));
    const auto counters = perform(plan, files, *queue);
    EXPECT_GE(counters.bytes_read, what.bytes());
    EXPECT_EQ(counters.bytes_written, what.bytes());
    std::vector<std::byte> result(what.bytes());
    files.target.sync();
    files.target.read_exactly(result.data(), result.size(), files.target_offset);
    ASSERT_EQ(result, test::performed(what, files.data)) << "case " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PipelineEngines,
                         testing::Values(Setting{io::Access::direct, io::Engine::uring},
                                         Setting{io::Access::direct, io::Engine::threads},
                                         Setting{io::Access::buffered, io::Engine::uring},
                                         Setting{io::Access::buffered, io::Engine::threads},
                                         Setting{io::Access::mapped, io::Engine::mapped}),
                         setting_name);

// Fail the N-th transfer for every N: always the error of that transfer, never a hang, never silence.
TEST(Pipeline, EveryFailingTransferIsReported) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{200, 300}, 8, Order::c}, {});
  const Files files = make_files(random, what, io::Access::buffered);
  const auto plan = plan_for(what, files, 256);
  const auto whole = perform(plan, files, *io::make_queue(io::Engine::threads, 8));
  ASSERT_GT(whole.reads, 20u);
  for (const auto kind : {io::Transfer::Kind::read, io::Transfer::Kind::write}) {
    const bool read = kind == io::Transfer::Kind::read;
    const auto count = static_cast<int>(read ? whole.reads : whole.writes);
    for (int n = 0; n < count; n += 1 + count / 40) {
      FailingQueue queue(io::make_queue(io::Engine::threads, 8), kind, n);
      try {
        perform(plan, files, queue);
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

TEST(Pipeline, StopsWhenAsked) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{2000, 3000}, 8, Order::c}, {});
  const Files files = make_files(random, what, io::Access::buffered);
  const auto plan = plan_for(what, files, 256);
  const auto queue = io::make_queue(io::Engine::threads, 8);
  std::stop_source stop;
  std::atomic<std::uint64_t> seen = 0;
  EXPECT_THROW(perform(plan, files, *queue, stop.get_token(),
                       [&](const PassCounters& now) {
                         seen = now.bytes_read;
                         if (now.bytes_read > what.bytes() / 4) stop.request_stop();
                       }),
               Cancelled);
  EXPECT_LT(seen, what.bytes());
}

}  // namespace
}  // namespace xorder::tiles
