// The file of an output's header: it is there whenever the output is, and never alone unless a run was killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "io/disk_filter.hpp"
#include "io/disks.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "xorder/error.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::work {
namespace {

class HeaderFile : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 60; ++i) data_ += static_cast<char>(i);
    test::write_file(directory_ / "in.img", data_);
    test::write_file(directory_ / "in.hdr",
                     "ENVI\nlines = 3\nsamples = 4\nbands = 5\ndata type = 1\ninterleave = bsq\n");
  }
  void run(io::Disk& disk) {
    const io::ArrayFile in = io::on_disk(io::open_array(directory_ / "in.img", {}), disk);
    tiles::Job(in, transposition(), directory_ / "out.raw").run();
  }

  test::ScratchDirectory directory_;
  std::string data_;
};

TEST_F(HeaderFile, IsThereIfTheOutputIs) {
  test::FailingDisk whole;
  run(whole);
  const std::string header = test::read_file(directory_ / "out.hdr"),
                    made = test::read_file(directory_ / "out.raw");
  EXPECT_THAT(header, testing::HasSubstr("interleave = bip"));
  ASSERT_GT(whole.operations(), 5);
  for (long n = 0; n < whole.operations(); ++n) {
    SCOPED_TRACE(testing::Message() << "operation " << n << " of " << whole.operations());
    for (const char* name : {"out.raw", "out.hdr"}) std::filesystem::remove(directory_ / name);
    test::FailingDisk disk;
    disk.fail_operation(n);
    try {
      run(disk);
    } catch (const InputError&) {
    } catch (const IoError&) {
    }
    if (!exists(directory_ / "out.raw")) {
      EXPECT_THAT(directory_.names(), testing::ElementsAre("in.hdr", "in.img"));
      continue;
    }
    EXPECT_THAT(directory_.names(), testing::ElementsAre("in.hdr", "in.img", "out.hdr", "out.raw"));
    EXPECT_EQ(test::read_file(directory_ / "out.hdr"), header);
    EXPECT_EQ(test::read_file(directory_ / "out.raw"), made);
  }
}

// Makes a file before the names are given.
class Intruder final : public io::DiskFilter {
 public:
  explicit Intruder(std::function<void()> intrude)
      : DiskFilter(io::system_disk()), intrude_(std::move(intrude)) {}
  int before(Operation operation) override {
    if (operation == Operation::link) intrude_();
    return 0;
  }
  using DiskFilter::before;

 private:
  std::function<void()> intrude_;
};

TEST_F(HeaderFile, IsWithdrawnIfSomebodyElseMakesTheOutput) {
  Intruder disk([&] { test::write_file(directory_ / "out.raw", "mine"); });
  EXPECT_THROW(run(disk), IoError);
  EXPECT_THAT(directory_.names(), testing::ElementsAre("in.hdr", "in.img", "out.raw"));
  EXPECT_EQ(test::read_file(directory_ / "out.raw"), "mine");
}

}  // namespace
}  // namespace xorder::work
