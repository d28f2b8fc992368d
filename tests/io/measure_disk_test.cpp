#include "io/measure/measure_disk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "io/file.hpp"
#include "io/page_cache/residency.hpp"
#include "io/scratch.hpp"
#include "plan/setting.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

DiskTrials::Options quick() { return {.file_bytes = 64 << 20, .seconds = 0.02}; }

class MeasureDisk : public testing::Test {
 protected:
  void SetUp() override {
    const File probe = File::create_nameless(scratch_.path(), "probe", 4096, Access::direct, system_disk());
    if (probe.access() != Access::direct || only_in_memory(scratch_.path()))
      GTEST_SKIP() << "no direct access here, or no disk";
  }
  test::ScratchDirectory scratch_;
};

TEST(MeasureMemory, IsRefused) {
  const test::ScratchDirectory scratch;
  test::TinyFileSystem tiny(scratch / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  EXPECT_NE(test::message_of<InputError>([&] { DiskTrials(scratch / "tiny", quick()); }).find("in memory"),
            std::string::npos);
}

// The most requests that are in flight at once, and those that are not whole, aligned requests.
class Counting : public Disk {
 public:
  std::unique_ptr<Queue> queue(QueueKind kind, unsigned depth) override {
    return std::make_unique<CountingQueue>(Disk::queue(kind, depth), watched_);
  }
  unsigned take_most() { return std::exchange(watched_.most, 0); }
  unsigned take_others(std::uint64_t next_block) {
    watched_.block = next_block;
    return std::exchange(watched_.others, 0);
  }

 private:
  struct Watched {
    unsigned most = 0, others = 0;
    std::uint64_t block = 1;
  };
  class CountingQueue : public Queue {
   public:
    CountingQueue(std::unique_ptr<Queue> real, Watched& watched)
        : real_(std::move(real)), watched_(watched) {}
    unsigned depth() const override { return real_->depth(); }
    void post(std::uint64_t token) override { real_->post(token); }
    void submit(const Transfer& transfer) override {
      watched_.most = std::max(watched_.most, ++in_flight_);
      if (transfer.bytes() != watched_.block || transfer.offset % watched_.block != 0) ++watched_.others;
      real_->submit(transfer);
    }
    void wait(std::vector<Completion>& done) override {
      const std::size_t before = done.size();
      real_->wait(done);
      in_flight_ -= static_cast<unsigned>(done.size() - before);
    }

   private:
    std::unique_ptr<Queue> real_;
    Watched& watched_;
    unsigned in_flight_ = 0;
  };
  Watched watched_;
};

TEST_F(MeasureDisk, AsManyInFlightAsAskedFor) {
  Counting disk;
  DiskTrials trials(scratch_.path(), quick(), disk);
  disk.take_most();
  for (const unsigned depth : trial_depths()) {
    trials.reads(4096, depth);
    EXPECT_EQ(disk.take_most(), depth);
    trials.writes(4096, depth);
    EXPECT_EQ(disk.take_most(), depth);
    trials.both(4096, depth);
    EXPECT_EQ(disk.take_most(), 2 * depth);
  }
}

TEST_F(MeasureDisk, MovesWholeBlocksAndLeavesNoFile) {
  Counting disk;
  {
    DiskTrials trials(scratch_.path(), quick(), disk);
    for (const std::uint64_t block : trial_blocks()) {
      disk.take_others(std::min(block, plan::largest_request));
      trials.reads(block);
      trials.writes(block);
      trials.both(block);
      EXPECT_EQ(disk.take_others(block), 0u) << block;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST_F(MeasureDisk, StopsWhenAsked) {
  std::stop_source stop;
  DiskTrials::Options options = quick();
  options.stop = stop.get_token();
  DiskTrials trials(scratch_.path(), options);
  stop.request_stop();
  EXPECT_THROW(trials.reads(4096), Cancelled);
  EXPECT_THROW(trials.both(4096), Cancelled);
  EXPECT_THROW(DiskTrials(scratch_.path(), options), Cancelled);
}

TEST(DiskProfile, GrowsWithTheRequestsAndEndsWhereLargerOnesGainNothing) {
  const plan::Device device =
      profile_of("it", {{4096, 5, 5, 5}, {8192, 7, 4, 9}, {16384, 6, 8, 8}, {32768, 9, 9, 9.4}});
  const std::vector<plan::Device::Point> expected{{4096, 5, 5, 5}, {8192, 7, 5, 9}};
  EXPECT_EQ(device.points, expected);
  EXPECT_EQ(device.name, "it");
  EXPECT_EQ(profile_of("one", {{4096, 1, 1, 1}}).points.size(), 1u);
}

// The 100th transfer, and every one after it, is refused.
class Failing : public Disk {
 public:
  std::unique_ptr<Queue> queue(QueueKind kind, unsigned depth) override {
    return std::make_unique<FailingQueue>(Disk::queue(kind, depth), left_);
  }

 private:
  class FailingQueue : public Queue {
   public:
    FailingQueue(std::unique_ptr<Queue> real, int& left) : real_(std::move(real)), left_(left) {}
    unsigned depth() const override { return real_->depth(); }
    void submit(const Transfer& transfer) override { real_->submit(transfer); }
    void post(std::uint64_t token) override { real_->post(token); }
    void wait(std::vector<Completion>& done) override {
      real_->wait(done);
      for (Completion& each : done) {
        if (--left_ < 0) each.error = EIO;
      }
    }

   private:
    std::unique_ptr<Queue> real_;
    int& left_;
  };
  int left_ = 100;
};

TEST_F(MeasureDisk, AFailingTransferIsReported) {
  Failing disk;
  const auto all = [&] {
    DiskTrials trials(scratch_.path(), quick(), disk);
    for (const std::uint64_t block : trial_blocks()) trials.both(block);
  };
  EXPECT_THROW(all(), IoError);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST(MeasureDiskErrors, ADirectoryThatIsNotThereIsRefused) {
  EXPECT_THROW(DiskTrials("/nowhere/at/all", quick()), InputError);
}

}  // namespace
}  // namespace xorder::io
