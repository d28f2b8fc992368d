#include "io/measure/seeks.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "io/disk_filter.hpp"
#include "io/disks.hpp"
#include "io/scratch.hpp"

namespace xorder::io {
namespace {

using namespace std::chrono_literals;

// Takes time for reads that do not begin where the last one ended, or for all.
class SlowDisk final : public DiskFilter {
 public:
  explicit SlowDisk(bool busy) : DiskFilter(system_disk()), busy_(busy) {}
  int before(const Transfer& read) override {
    const bool seeks = read.offset != end_;
    if (busy_ || seeks) std::this_thread::sleep_for(5ms);
    seeks_ += seeks;
    end_ = read.offset + read.bytes();
    ++reads_;
    return 0;
  }
  int before(Operation) override { return 0; }
  int reads() const { return reads_; }
  int seeks() const { return seeks_; }

 private:
  bool busy_;
  std::uint64_t end_ = 0;
  int reads_ = 0, seeks_ = 0;
};

File file_of(const std::filesystem::path& path, std::size_t bytes) {
  test::write_file(path, std::string(bytes, 'x'));
  return File::open_input(path, Access::buffered);
}

TEST(Seeks, ASpinningDiskTakesLongOnlyToSeek) {
  const test::ScratchDirectory scratch;
  const File file = file_of(scratch / "large", 8 << 20);
  SlowDisk spinning(false), busy(true);
  const auto seeks = read_times(file, spinning), waits = read_times(file, busy);
  if (!seeks || !waits) GTEST_SKIP() << "no direct access here";
  EXPECT_EQ(spinning.reads(), 32);
  EXPECT_GT(seeks->elsewhere, 5e-3);
  EXPECT_EQ(spinning.seeks(), 16);
  EXPECT_GT(waits->next, 5e-3);
  EXPECT_FALSE(waits->of_spinning_disk());
  EXPECT_TRUE((ReadTimes{9e-3, 1e-4}).of_spinning_disk());
  EXPECT_FALSE((ReadTimes{9e-4, 1e-5}).of_spinning_disk());
}

TEST(Seeks, NothingWhereTheyCannotBeMade) {
  const test::ScratchDirectory scratch;
  EXPECT_EQ(read_times(file_of(scratch / "small", 1 << 20)).has_value(), false);
  test::FailingDisk failing;
  failing.fail_transfer(Transfer::Kind::read, 3);
  EXPECT_EQ(read_times(file_of(scratch / "large", 8 << 20), failing).has_value(), false);
  const test::TinyFileSystem tiny(scratch / "tiny", "size=9m");
  if (tiny.mounted()) {
    EXPECT_FALSE(said_to_spin(file_of(scratch / "tiny" / "file", 8 << 20)));
  }
}

}  // namespace
}  // namespace xorder::io
