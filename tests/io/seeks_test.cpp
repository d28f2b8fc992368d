#include "io/seeks.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "io/disk_filter.hpp"
#include "io/disks.hpp"
#include "io/scratch.hpp"

namespace xorder::io {
namespace {

using namespace std::chrono_literals;

// Each read takes some milliseconds more, except every fifth.
class SlowDisk final : public DiskFilter {
 public:
  SlowDisk() : DiskFilter(system_disk()) {}
  int before(const Transfer&) override {
    if (++reads_ % 5 != 0) std::this_thread::sleep_for(5ms);
    return 0;
  }
  int before(Operation) override { return 0; }
  int reads_ = 0;
};

File file_of(const std::filesystem::path& path, std::size_t bytes) {
  test::write_file(path, std::string(bytes, 'x'));
  return File::open_input(path, Access::buffered);
}

TEST(Seeks, TheMedianOfSixteenReads) {
  const test::ScratchDirectory scratch;
  const File file = file_of(scratch / "large", 8 << 20);
  SlowDisk slow;
  const auto seconds = seek_seconds(file, slow);
  if (!seconds) GTEST_SKIP() << "no direct access here";
  EXPECT_GT(*seconds, 5e-3);
  EXPECT_EQ(slow.reads_, 16);
}

TEST(Seeks, NothingWhereTheyCannotBeMade) {
  const test::ScratchDirectory scratch;
  EXPECT_EQ(seek_seconds(file_of(scratch / "small", 1 << 20)), std::nullopt);
  test::FailingDisk failing;
  failing.fail_transfer(Transfer::Kind::read, 3);
  EXPECT_EQ(seek_seconds(file_of(scratch / "large", 8 << 20), failing), std::nullopt);
  const test::TinyFileSystem tiny(scratch / "tiny", "size=9m");
  if (tiny.mounted()) {
    EXPECT_FALSE(said_to_spin(file_of(scratch / "tiny" / "file", 8 << 20)));
  }
}

}  // namespace
}  // namespace xorder::io
