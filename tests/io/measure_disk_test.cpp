#include "io/measure_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file.hpp"
#include "io/scratch.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

DiskTrials quick() { return {.file_bytes = 64 << 20, .seconds = 0.02}; }

class MeasureDisk : public testing::Test {
 protected:
  void SetUp() override {
    const File probe = File::create_nameless(scratch_.path(), "probe", 4096, Access::direct, system_disk());
    if (probe.access() != Access::direct) GTEST_SKIP() << "no direct access here";
  }
  test::ScratchDirectory scratch_;
};

TEST_F(MeasureDisk, BandwidthsArePositiveAndGrowWithTheRequests) {
  const plan::Device device = measure_disk(scratch_.path(), quick());
  ASSERT_FALSE(device.points.empty());
  EXPECT_EQ(device.points.front().request_bytes, 4096u);
  EXPECT_GE(device.depth, 1u);
  for (std::size_t i = 0; i < device.points.size(); ++i) {
    const plan::Device::Point& p = device.points[i];
    const plan::Device::Point& before = device.points[i == 0 ? 0 : i - 1];
    EXPECT_GT(before.both_bytes_per_second, 0);
    EXPECT_GE(p.read_bytes_per_second, before.read_bytes_per_second);
    EXPECT_GE(p.write_bytes_per_second, before.write_bytes_per_second);
    EXPECT_GE(p.both_bytes_per_second, before.both_bytes_per_second);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST_F(MeasureDisk, StopsWhenAsked) {
  std::stop_source stop;
  DiskTrials trials = quick();
  trials.stop = stop.get_token();
  int told = 0;
  trials.progress = [&](const std::string&) {
    if (++told == 3) stop.request_stop();
  };
  EXPECT_THROW(measure_disk(scratch_.path(), trials), Cancelled);
  EXPECT_EQ(told, 3);
}

// The 100th transfer, and every one after it, is refused.
class Failing : public Disk {
 public:
  std::unique_ptr<Queue> queue(Engine engine, unsigned depth) override {
    return std::make_unique<FailingQueue>(Disk::queue(engine, depth), left_);
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
    const char* name() const override { return real_->name(); }

   private:
    std::unique_ptr<Queue> real_;
    int& left_;
  };
  int left_ = 100;
};

TEST_F(MeasureDisk, AFailingTransferIsReported) {
  Failing disk;
  EXPECT_THROW(measure_disk(scratch_.path(), quick(), disk), IoError);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST(MeasureDiskErrors, ADirectoryThatIsNotThereIsRefused) {
  EXPECT_THROW(measure_disk("/nowhere/at/all", quick()), InputError);
}

}  // namespace
}  // namespace xorder::io
