// An input that is stored into while it is being read gives no output, also where the store goes to a page
// that was dirty before.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <thread>

#include "io/disk_filter.hpp"
#include "io/format/on_disk.hpp"
#include "io/page_cache/residency.hpp"
#include "io/scratch.hpp"
#include "xorder/error.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::work {
namespace {

constexpr std::size_t bytes = std::size_t{8} << 20;

// A file whose pages somebody else has mapped, and has stored into.
class Mapped {
 public:
  explicit Mapped(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
    EXPECT_EQ(ftruncate(fd, bytes), 0);
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT_NE(at, MAP_FAILED);
    close(fd);
    data_ = static_cast<unsigned char*>(at);
    store(1);
  }
  ~Mapped() { munmap(data_, bytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  void store(unsigned char value) {
    for (std::size_t i = 0; i < bytes; i += 4096) data_[i] = value;
  }

 private:
  unsigned char* data_;
};

// Does something before the first transfer of the input.
class Meddling final : public io::DiskFilter {
 public:
  explicit Meddling(std::function<void()> meddle)
      : DiskFilter(io::system_disk()), meddle_(std::move(meddle)) {}
  int before(const io::Transfer& t) override {
    if (t.kind == io::Transfer::Kind::read && !done_.exchange(true)) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(20));  // file times move by ticks of some milliseconds
      meddle_();
    }
    return 0;
  }
  using DiskFilter::before;

 private:
  std::function<void()> meddle_;
  std::atomic<bool> done_ = false;
};

class ChangingInput : public testing::TestWithParam<AccessChoice> {
 protected:
  // Transposes it while `meddle` happens.
  void expect_no_output(const std::filesystem::path& path, const std::function<void()>& meddle) {
    expect_no_output(path, io::RawLayout{.dtype = io::parse_dtype("f8"), .extents = {{1024, 1024}}}, meddle);
  }
  void expect_no_output(const std::filesystem::path& path, const std::optional<io::RawLayout>& layout,
                        const std::function<void()>& meddle) {
    Meddling disk(meddle);
    const io::ArrayFile in = io::on_disk(io::open_array(path, layout), disk);
    Options options;
    options.access = GetParam();
    // A raw OUT has a header if the input has one, which is then read before the run.
    const std::filesystem::path out = path.parent_path() / (layout ? "out.raw" : "out.npy");
    tiles::Job job(in, transposition(), out, options);
    const std::string said = test::message_of<IoError>([&] { job.run(); });
    EXPECT_THAT(said, testing::HasSubstr("changed while it was being read"));
    EXPECT_FALSE(std::filesystem::exists(out));
  }
};

TEST_P(ChangingInput, IsNoticedWherePagesWereDirtyBefore) {
  const test::ScratchDirectory scratch;
  if (io::only_in_memory(scratch.path()))
    GTEST_SKIP() << "tmpfs does not keep the time of a store into a mapped page";
  Mapped file(scratch / "in.raw");
  expect_no_output(scratch / "in.raw", [&] { file.store(2); });
}

TEST_P(ChangingInput, IsNoticedWhereItsEndIsCutOff) {
  const test::ScratchDirectory scratch;
  test::write_file(scratch / "in.raw", std::string(bytes, 'x'));
  expect_no_output(scratch / "in.raw", [&] { std::filesystem::resize_file(scratch / "in.raw", 12345); });
}

// Whoever sets a time back leaves the size and the time as they were, as cp -p does with an equal size.
TEST_P(ChangingInput, IsNoticedWhereItsTimeIsSetBack) {
  const test::ScratchDirectory scratch;
  const std::filesystem::path path = scratch / "in.raw";
  const auto keep_time = [&](const std::function<void()>& change) {
    const auto time = std::filesystem::last_write_time(path);
    change();
    std::filesystem::last_write_time(path, time);
  };
  const std::function<void()> changes[] = {
      [&] { keep_time([&] { std::ofstream(path, std::ios::in | std::ios::binary) << "y"; }); },
      [&] {
        keep_time([&] {
          std::filesystem::resize_file(path, 12345);
          std::filesystem::resize_file(path, bytes);
        });
      },
      [&] { std::filesystem::create_hard_link(path, scratch / "other"); },
      [&] { std::filesystem::permissions(path, std::filesystem::perms::owner_all); }};
  for (const auto& change : changes) {
    test::write_file(path, std::string(bytes, 'x'));
    expect_no_output(path, change);
  }
}

// The header beside the data is a part of the input.
TEST_P(ChangingInput, IsNoticedInAHeaderBesideTheData) {
  const test::ScratchDirectory scratch;
  test::write_file(scratch / "in.img", std::string(bytes, 'x'));
  test::write_file(scratch / "in.hdr",
                   "ENVI\nlines=1024\nsamples=1024\nbands=1\ndata type=5\nbyte order=0\n");
  expect_no_output(scratch / "in.img", {},
                   [&] { std::ofstream(scratch / "in.hdr", std::ios::app) << "bands = 2\n"; });
}

// Where the clock has not moved since the file was made, a later change would not be seen by the time.
TEST(SettledStamp, ComesWhenTheClockHasPassedTheTime) {
  const test::ScratchDirectory scratch;
  for (int i = 0; i < 20; ++i) {
    test::write_file(scratch / "in.raw", "a");
    const io::File file = io::File::open_input(scratch / "in.raw", io::Access::buffered);
    const io::FileStamp stamp = file.settled_stamp();
    timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    EXPECT_GT(std::pair(std::int64_t{now.tv_sec}, std::int64_t{now.tv_nsec}),
              std::pair(stamp.ctime_seconds, stamp.ctime_nanoseconds));
  }
}

INSTANTIATE_TEST_SUITE_P(Access, ChangingInput,
                         testing::Values(AccessChoice::automatic, AccessChoice::direct,
                                         AccessChoice::mapped));

}  // namespace
}  // namespace xorder::work
