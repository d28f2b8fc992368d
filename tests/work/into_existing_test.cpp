// Outputs that are parts of existing files: what is around them stays as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "byte_units.hpp"
#include "io/disks.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::work {
namespace {

using testing::HasSubstr;

class IntoExistingTest : public testing::TestWithParam<AccessChoice> {
 protected:
  // The file's content if its part at `offset` is the transposed input.
  std::string expected(std::uint64_t offset) const {
    std::string all = before_;
    const std::uint64_t width = layout_.dtype->bytes, rows = layout_.extents->at(0),
                        columns = layout_.extents->at(1);
    for (std::uint64_t i = 0; i < rows; ++i) {
      for (std::uint64_t j = 0; j < columns; ++j)
        all.replace(offset + (j * rows + i) * width, width, data_, (i * columns + j) * width, width);
    }
    return all;
  }
  void make_files(std::uint64_t rows, std::uint64_t columns, const std::string& dtype, std::uint64_t more) {
    layout_.dtype = io::parse_dtype(dtype);
    layout_.extents = {rows, columns};
    data_.resize(rows * columns * layout_.dtype->bytes);
    before_.resize(data_.size() + more);
    random_.fill(data_.data(), data_.size());
    random_.fill(before_.data(), before_.size());
    test::write_file(directory_ / "in.raw", data_);
    test::write_file(path_, before_);
  }
  void run(std::uint64_t offset, io::Disk& disk = io::system_disk()) {
    const Options options{.memory = 16 * MiB,
                          .threads = 2,
                          .access = GetParam(),
                          .output_offset = offset,
                          .into_existing = true};
    Job(io::on_disk(io::open_array(directory_ / "in.raw", layout_), disk), transposition(), path_, options)
        .run();
  }

  const test::ScratchDirectory directory_;
  const test::fs::path path_ = directory_ / "all.h5";  // its name does not matter
  test::Random random_;
  std::string data_, before_;
  io::RawLayout layout_;
};

TEST_P(IntoExistingTest, LeavesTheRestAsItIs) {
  SEED_TRACE(random_);
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t more = random_.in(0u, 20000u);
    const std::uint64_t offset =
        random_.in(0, 2) == 0 ? std::min(more, std::uint64_t{4096}) : random_.in(0u, more);
    make_files(random_.in(1u, 400u), random_.in(1u, 400u),
               i % 3 == 0   ? "f8"
               : i % 3 == 1 ? "u1"
                            : "V3",
               more);
    run(offset);
    ASSERT_TRUE(test::read_file(path_) == expected(offset)) << "at " << offset << " of " << before_.size();
  }
  make_files(3000, 1100, "f8", 5000);  // in several tiles
  run(4567);
  EXPECT_TRUE(test::read_file(path_) == expected(4567));
  make_files(0, 3, "f8", 10);
  run(10);
  EXPECT_TRUE(test::read_file(path_) == before_);
}

TEST_P(IntoExistingTest, AFailureLeavesTheRestAsItIs) {
  SEED_TRACE(random_);
  make_files(300, 500, "f8", 3000);
  for (const int what : {0, 1, 2}) {
    bool failed = true;
    for (long number = 0; failed && number < 1000; ++number) {
      test::FailingDisk disk;
      if (what == 0)
        disk.fail_operation(number);
      else
        disk.fail_transfer(what == 1 ? io::Transfer::Kind::read : io::Transfer::Kind::write, number);
      try {
        run(1234, disk);
      } catch (const Error&) {
        EXPECT_TRUE(disk.failed());
      }
      failed = disk.failed();
      const std::string now = test::read_file(path_);
      ASSERT_EQ(now.size(), before_.size());
      EXPECT_TRUE(now.starts_with(before_.substr(0, 1234)));
      EXPECT_TRUE(now.ends_with(before_.substr(1234 + data_.size())));
    }
    EXPECT_FALSE(failed);
  }
  EXPECT_TRUE(test::read_file(path_) == expected(1234));
  EXPECT_THAT(directory_.names(), testing::ElementsAre("all.h5", "in.raw"));
}

TEST_P(IntoExistingTest, IsRefusedBeforeAnythingIsWritten) {
  make_files(20, 30, "f8", 100);
  const auto refused = [&](std::uint64_t offset) {
    return test::message_of<InputError>([&] { run(offset); });
  };
  EXPECT_THAT(refused(101), HasSubstr("all.h5: has 4900 bytes, and the output would end at byte 4901"));
  EXPECT_TRUE(test::read_file(path_) == before_);
  test::fs::remove(path_);
  EXPECT_THAT(refused(0), HasSubstr("No such file"));
  test::fs::create_hard_link(directory_ / "in.raw", path_);
  EXPECT_THAT(refused(0), HasSubstr("is the same file as the input"));
  Options options{.into_existing = true, .resumable = true};
  EXPECT_THROW(Job(io::open_array(directory_ / "in.raw", layout_), transposition(), path_, options),
               InputError);
}

INSTANTIATE_TEST_SUITE_P(Accesses, IntoExistingTest,
                         testing::Values(AccessChoice::automatic, AccessChoice::direct, AccessChoice::mapped),
                         [](const auto& access) {
                           return access.param == AccessChoice::automatic ? "automatic"
                                  : access.param == AccessChoice::direct  ? "direct"
                                                                          : "mapped";
                         });

}  // namespace
}  // namespace xorder::work
