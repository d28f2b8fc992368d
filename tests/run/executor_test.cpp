// The executor with passes of random steps and units, over real files.
#include "run/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "io/disks.hpp"
#include "plan/reference.hpp"
#include "rounding.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::run {
namespace {

using Compute = Rules::Compute;
using std::size_t;
using std::uint64_t;

constexpr uint64_t page = 4096;

// Memory for bytes whose place in a page is that in the file, alone in its blocks.
struct Place {
  Place(uint64_t offset, uint64_t bytes)
      : memory(round_up(bytes, page) + 2 * page), data(memory.data() + offset % page) {}
  io::BlockMemory memory;
  std::byte* data;
};

void add(int number, std::byte* data, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(static_cast<int>(data[i]) + number);
}

// Copies a file and adds 7 to each byte: decoding adds 1, computing adds 2, and encoding adds 4. Steps are random
// stretches of the file, in random pieces.
class AddingPass final : public Pass {
 public:
  struct Stretch {
    uint64_t begin, end;
  };
  enum class Fault { none, next_unit, decode, compute, next_write, encode };

  AddingPass(test::Random& random, const io::File& source, const io::File& target, uint64_t bytes,
             uint64_t shift)
      : source_(source), target_(target), shift_(shift) {
    rules_.read_alignment = std::max(source.offset_alignment(), source.memory_alignment());
    rules_.write_alignment = std::max(target.write_alignment(), target.memory_alignment());
    rules_.read_bytes = rules_.write_bytes = random.in(1u, 100'000u);
    rules_.decodes = true;
    rules_.encodes = random.in(0, 1) == 1;
    rules_.compute = static_cast<Compute>(random.in(0, 2));
    if (random.in(0, 1)) rules_.most_steps = random.in(1u, 9u);
    most_units_ = random.in(1u, 30u);
    for (uint64_t at = 0; at < bytes;) {
      const uint64_t length = random.in(0, 3) ? random.in(1u, 20'000u) : random.in(1u, 3'000'000u);
      steps_.push_back({});
      Step& step = steps_.back();
      step.whole = {at, std::min(at + length, bytes)};
      step.units = cut(random, step.whole);
      step.writes = cut(random, step.whole);
      at = step.whole.end;
    }
  }

  Rules& rules() { return rules_; }
  void fail(Fault fault, uint64_t step) {
    fault_ = fault;
    faulty_ = step;
  }

  const Rules& rules() const override { return rules_; }
  Next next_unit(Unit& unit) override {
    if (next_ == steps_.size()) return Next::end;
    if (units_in_flight_ == most_units_) return Next::later;
    fail_if(Fault::next_unit, next_);
    Step& step = steps_[next_];
    if (step.begun == 0) {
      EXPECT_LT(steps_in_flight_.size(), rules_.most_steps);
      steps_in_flight_.insert(next_);
      step.result = std::make_unique<Place>(step.whole.begin + shift_, step.whole.end - step.whole.begin);
    }
    const Stretch stretch = step.units[step.begun];
    unit.step = next_;
    unit.slot = step.begun++;
    unit.last = step.begun == step.units.size();
    if (unit.last) ++next_;
    ++units_in_flight_;
    step.read.push_back(std::make_unique<Place>(stretch.begin, stretch.end - stretch.begin));
    unit.reads.push_back({&source_, stretch.begin, stretch.end - stretch.begin, step.read.back()->data});
    return Next::ready;
  }
  void decode(Unit& unit) override {
    fail_if(Fault::decode, unit.step);
    const Step& step = steps_[unit.step];
    const Range& read = unit.reads.front();
    std::byte* const to = step.result->data + (read.offset - step.whole.begin);
    for (uint64_t i = 0; i < read.bytes; ++i)
      to[i] = static_cast<std::byte>(static_cast<int>(read.data[i]) + 1);
  }
  void decoded(Unit& unit) override {
    --units_in_flight_;
    const std::lock_guard lock(mutex_);
    ++steps_[unit.step].decoded;
  }
  void compute(uint64_t number) override {
    fail_if(Fault::compute, number);
    {
      const std::lock_guard lock(mutex_);
      for (uint64_t before = 0; before <= number; ++before)
        EXPECT_EQ(steps_[before].decoded, steps_[before].units.size()) << before << " before " << number;
      if (rules_.compute == Compute::one_by_one) {
        EXPECT_EQ(computed_, number);
      }
    }
    const Step& step = steps_[number];
    add(2, step.result->data, step.whole.end - step.whole.begin);
    ++computed_;
  }
  Next next_write(uint64_t number, Write& write) override {
    fail_if(Fault::next_write, number);
    Step& step = steps_[number];
    if (rules_.compute == Compute::none && !step.given++)  // then this computes
      add(2, step.result->data, step.whole.end - step.whole.begin);
    if (step.writes.empty()) return Next::end;
    const Stretch stretch = step.writes.back();
    step.writes.pop_back();
    step.out.push_back(std::make_unique<Place>(stretch.begin + shift_, stretch.end - stretch.begin));
    std::copy_n(step.result->data + (stretch.begin - step.whole.begin), stretch.end - stretch.begin,
                step.out.back()->data);
    write.range = {&target_, stretch.begin + shift_, stretch.end - stretch.begin, step.out.back()->data};
    write.slot = number;
    if (!rules_.encodes) add(4, write.range.data, write.range.bytes);
    ++step.writing;
    return Next::ready;
  }
  void encode(Write& write) override {
    fail_if(Fault::encode, write.slot);
    add(4, write.range.data, write.range.bytes);
  }
  void written(const Write& write) override {
    Step& step = steps_[write.slot];
    if (--step.writing > 0 || !step.writes.empty()) return;
    step.out.clear();
    while (!steps_in_flight_.empty() && ended(*steps_in_flight_.begin()))
      steps_in_flight_.erase(steps_in_flight_.begin());
  }

 private:
  struct Step {
    Stretch whole{};
    std::vector<Stretch> units, writes;
    size_t begun = 0, decoded = 0, given = 0, writing = 0;
    std::vector<std::unique_ptr<Place>> read, out;
    std::unique_ptr<Place> result;
  };
  bool ended(uint64_t number) const { return steps_[number].writes.empty() && steps_[number].writing == 0; }
  void fail_if(Fault fault, uint64_t step) const {
    if (fault_ == fault && faulty_ == step) throw InputError("a fault");
  }
  static std::vector<Stretch> cut(test::Random& random, Stretch whole) {
    std::vector<uint64_t> ends{whole.begin, whole.end};
    for (int i = random.in(0, 5); i > 0; --i) ends.push_back(random.in(whole.begin, whole.end));
    std::ranges::sort(ends);
    std::vector<Stretch> all;
    for (size_t i = 1; i < ends.size(); ++i) all.push_back({ends[i - 1], ends[i]});
    return all;
  }

  const io::File &source_, &target_;
  uint64_t shift_;
  Rules rules_;
  std::deque<Step> steps_;
  uint64_t next_ = 0, most_units_ = 1, units_in_flight_ = 0;
  std::set<uint64_t> steps_in_flight_;
  std::mutex mutex_;
  std::atomic<uint64_t> computed_ = 0;
  Fault fault_ = Fault::none;
  uint64_t faulty_ = 0;
};

struct Files {
  explicit Files(test::Random& random, io::Disk& disk = io::system_disk())
      : access(random.in(0, 1) ? io::Access::direct : io::Access::buffered),
        bytes(random.in(0, 4) ? random.in(1u, 2'000'000u) : 0),
        shift(random.in(0, 1) ? 0 : random.in(1u, 5000u)),
        data(test::random_bytes(random, bytes)),
        source(io::File::create_nameless(testing::TempDir(), "source", bytes, access, disk)),
        target(io::File::create_nameless(testing::TempDir(), "target", shift + bytes, access, disk)),
        carry(shift, shift + bytes, std::max(target.write_alignment(), target.memory_alignment()),
              random.in(0, 1) ? 0 : uint64_t{1} << 20) {
    if (bytes != 0) source.write_exactly(data.data(), bytes, 0);
    source.sync();
  }
  void expect_seven_added() {
    EXPECT_TRUE(carry.take_rest().empty());
    std::vector<std::byte> result(bytes);
    target.sync();
    if (bytes != 0) target.read_exactly(result.data(), bytes, shift);
    add(7, data.data(), bytes);
    ASSERT_TRUE(result == data);
  }

  io::Access access;
  uint64_t bytes, shift;
  std::vector<std::byte> data;
  io::File source, target;
  io::Carry carry;
};

void execute_with(
    test::Random& random, AddingPass& pass, Files& files, std::stop_token stop = {},
    const std::function<void()>& tick = [] {}) {
  task::Workers workers(random.in(1u, 3u));
  io::BlockMemory memory;
  const bool uring = files.access == io::Access::direct && io::uring_available();
  const auto queue =
      files.target.disk().queue(uring ? io::QueueKind::uring : io::QueueKind::threads, random.in(2u, 64u));
  execute(pass, files.carry, *queue, {memory, workers, tick, stop});
}

TEST(Executor, EveryStepIsReadComputedAndWritten) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < test::rounds(30); ++i) {
    Files files(random);
    AddingPass pass(random, files.source, files.target, files.bytes, files.shift);
    execute_with(random, pass, files);
    ASSERT_NO_FATAL_FAILURE(files.expect_seven_added()) << "case " << i;
  }
}

TEST(Executor, WhatThePassThrowsEndsIt) {
  test::Random random;
  SEED_TRACE(random);
  using Fault = AddingPass::Fault;
  for (int i = 0; i < 40; ++i) {
    Files files(random);
    AddingPass pass(random, files.source, files.target, files.bytes, files.shift);
    auto fault = static_cast<Fault>(random.in(1, 5));
    if (fault == Fault::compute) pass.rules().compute = Compute::at_once;
    if (fault == Fault::encode) pass.rules().encodes = true;
    pass.fail(fault, 0);
    if (files.bytes == 0) continue;
    EXPECT_THROW(execute_with(random, pass, files), InputError) << "case " << i;
  }
}

TEST(Executor, AFailedTransferEndsIt) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 20; ++i) {
    test::FailingDisk disk;
    Files files(random, disk);
    if (files.bytes == 0) continue;
    AddingPass pass(random, files.source, files.target, files.bytes, files.shift);
    const auto kind = random.in(0, 1) ? io::Transfer::Kind::read : io::Transfer::Kind::write;
    disk.fail_transfer(kind, kind == io::Transfer::Kind::read ? disk.reads() : disk.writes());
    EXPECT_THROW(execute_with(random, pass, files), IoError) << "case " << i;
  }
}

TEST(Executor, EndsWhenAskedTo) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 10; ++i) {
    Files files(random);
    AddingPass pass(random, files.source, files.target, files.bytes, files.shift);
    if (files.bytes == 0) continue;
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(execute_with(random, pass, files, stop.get_token()), Cancelled);
    AddingPass other(random, files.source, files.target, files.bytes, files.shift);
    EXPECT_THROW(execute_with(random, other, files, {}, [] { throw InputError("a tick"); }), InputError);
  }
}

TEST(Executor, TicksWhileNothingCompletes) {
  class Waiting final : public Pass {
   public:
    const Rules& rules() const override { return rules_; }
    Next next_unit(Unit& unit) override {
      unit.step = 0;
      return std::exchange(begun_, true) ? Next::end : Next::ready;
    }
    void compute(uint64_t) override {
      std::unique_lock lock(mutex_);
      EXPECT_TRUE(ticked_.wait_for(lock, std::chrono::minutes(1), [&] { return ticks_ >= 3; }));
    }
    Next next_write(uint64_t, Write&) override { return Next::end; }
    void tick() {
      const std::lock_guard lock(mutex_);
      ++ticks_;
      ticked_.notify_one();
    }

   private:
    Rules rules_{.compute = Compute::one_by_one};
    bool begun_ = false;
    std::mutex mutex_;
    std::condition_variable ticked_;
    int ticks_ = 0;
  };
  test::Random random;
  Files files(random);
  Waiting pass;
  task::Workers workers(1);
  io::BlockMemory memory;
  const auto queue = files.target.disk().queue(io::QueueKind::threads, 2);
  execute(pass, files.carry, *queue, {memory, workers, [&] { pass.tick(); }, {}});
}

}  // namespace
}  // namespace xorder::run
