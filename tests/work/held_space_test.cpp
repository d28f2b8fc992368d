// The space that a run takes at one time is what its plan says, for every engine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "io/disk_filter.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "seed.hpp"
#include "work/engines.hpp"

namespace xorder::work {
namespace {

namespace fs = std::filesystem;

// Before each transfer adds up the sizes of the files in a directory that this process has open for writing.
class HeldSpace final : public io::DiskFilter {
 public:
  explicit HeldSpace(fs::path directory)
      : DiskFilter(io::system_disk()), directory_(fs::canonical(directory).string()) {}

  using DiskFilter::before;
  int before(const io::Transfer&) override {
    const std::lock_guard lock(mutex_);
    std::map<ino_t, std::uint64_t> sizes;
    for (const auto& descriptor : fs::directory_iterator("/proc/self/fd")) {
      const int fd = std::stoi(descriptor.path().filename());
      std::error_code closed;
      if (!fs::read_symlink(descriptor, closed).string().starts_with(directory_)) continue;
      struct stat status;
      if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && fstat(fd, &status) == 0)
        sizes[status.st_ino] = static_cast<std::uint64_t>(status.st_size);
    }
    std::uint64_t held = 0;
    for (const auto& [file, size] : sizes) held += size;
    least_ = std::min(least_, held);
    most_ = std::max(most_, held);
    return 0;
  }

  std::uint64_t least() const { return least_; }
  std::uint64_t most() const { return most_; }

 private:
  std::string directory_;
  std::mutex mutex_;
  std::uint64_t least_ = ~std::uint64_t{0}, most_ = 0;
};

class HeldSpaceTest : public testing::TestWithParam<std::tuple<test::Engine, AccessChoice>> {};

TEST_P(HeldSpaceTest, IsThatOfThePlanFromTheFirstTransferToTheLast) {
  const auto& [engine, access] = GetParam();
  test::Random random;
  SEED_TRACE(random);
  const test::ScratchDirectory directory;
  std::string data(engine.elements * 8, '\0');
  random.fill(data.data(), data.size());
  test::write_file(directory / "in.raw", data);
  io::RawLayout layout;
  layout.dtype = io::parse_dtype("f8");
  layout.extents = {engine.elements >> 10, 1024};
  HeldSpace disk(directory.path());
  const io::ArrayFile in = io::on_disk(io::open_array(directory / "in.raw", layout), disk);
  const auto work = engine.make(in, directory / "out.raw",
                                {.memory = std::uint64_t{16} << 20, .threads = 2, .access = access});
  const Summary plan = work->summary();
  work->run();
  EXPECT_EQ(disk.least(), plan.bytes + plan.scratch_bytes);
  EXPECT_EQ(disk.most(), plan.bytes + plan.scratch_bytes);
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldSpaceTest,
                         testing::Combine(testing::ValuesIn(test::engines),
                                          testing::Values(AccessChoice::direct, AccessChoice::mapped)),
                         test::name_of_engine);

}  // namespace
}  // namespace xorder::work
