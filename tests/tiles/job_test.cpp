#include "xorder/tiles/job.hpp"

#include "plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "byte_units.hpp"
#include "plan/reference.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

namespace fs = std::filesystem;

class JobTest : public testing::Test {
 protected:
  JobTest() : directory_(fs::path(testing::TempDir()) / ("xorder-job-" + std::to_string(getpid()))) {
    fs::create_directories(directory_);
  }
  ~JobTest() override { fs::remove_all(directory_); }

  io::ArrayFile raw_input(const std::vector<std::byte>& data, std::uint64_t element_bytes) {
    std::ofstream(directory_ / "in.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("V" + std::to_string(element_bytes));
    return io::open_array(directory_ / "in.raw", layout);
  }
  std::vector<std::byte> output() {
    std::ifstream file(directory_ / "out.raw", std::ios::binary);
    std::vector<std::byte> bytes(fs::file_size(directory_ / "out.raw"));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  std::set<std::string> files() {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) names.insert(entry.path().filename());
    return names;
  }
  Job job(const io::ArrayFile& in, const Reordering& what, work::Options options) {
    return Job({in}, what, in.description.extents, directory_ / "out.raw", std::move(options));
  }

  fs::path directory_;
};

// A device on which only large requests are worth anything makes plans of several passes out of files of a
// few MiB.
plan::Device slow_starter() { return plan::Device::parse(R"({"points": [[1048576, 1e6, 1e6]]})", "test"); }

TEST_F(JobTest, SizesMustAgree) {
  const io::ArrayFile in = raw_input(std::vector<std::byte>(24), 2);
  const auto make = [&](const ArrayShape& shape, const std::vector<std::uint64_t>& extents) {
    Job({in}, transposition(shape, {}), extents, directory_ / "out.raw", {});
  };
  EXPECT_NO_THROW(make({{3, 4}, 2, Order::c}, {4, 3}));
  EXPECT_NO_THROW(make({{3, 4}, 2, Order::c}, {12}));
  EXPECT_THROW(make({{3, 4}, 1, Order::c}, {4, 3}), InputError);  // half of the input
  EXPECT_THROW(make({{3, 5}, 2, Order::c}, {5, 3}), InputError);  // more than the input
  EXPECT_THROW(make({{3, 4}, 2, Order::c}, {4, 4}), InputError);  // the output would have a hole
  EXPECT_THROW(make({{3, 4}, 2, Order::c}, {2, 3}), InputError);  // or lack elements
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;          // 12 modulo 2^64
  EXPECT_THROW(make({{3, 4}, 2, Order::c}, {4, huge + 3}), InputError);
  EXPECT_EQ(files(), std::set<std::string>{"in.raw"});
  const io::ArrayFile empty = raw_input({}, 2);
  EXPECT_NO_THROW(Job({empty}, transposition({{0, 7}, 2, Order::c}, {}), {7, 0}, directory_ / "out.raw", {}));
}

TEST_F(JobTest, SeveralPassesGiveTheSameBytes) {
  test::Random random;
  SEED_TRACE(random);
  for (const auto& map : {bmmc::bit_reverse(22), test::random_map(random, 22), bmmc::transpose(8, 14)}) {
    const Reordering what = mapping_of_all({{std::uint64_t{1} << 22}, 4, Order::c}, map);
    const auto data = test::random_bytes(random, what.bytes()), expected = test::performed(what, data);
    const io::ArrayFile in = raw_input(data, 4);
    for (const auto access :
         {work::AccessChoice::direct, work::AccessChoice::mapped, work::AccessChoice::automatic}) {
      work::Options options{
          .memory = 16 * MiB, .access = access, .device = slow_starter(), .overwrite = true};
      Job several = job(in, what, options);
      EXPECT_GT(several.plan().passes.size(), 1u);
      EXPECT_LE(several.plan().peak_memory(), 16 * MiB);
      std::uint64_t last = 0;
      const work::Report report = several.run([&](const work::Progress& p) {
        EXPECT_GE(p.bytes_done, last);
        EXPECT_LE(p.bytes_done, p.bytes_total);
        last = p.bytes_done;
      });
      EXPECT_EQ(report.passes, several.plan().passes.size());
      EXPECT_GE(report.bytes_read, several.plan().bytes_read());
      EXPECT_EQ(report.bytes_written, several.plan().bytes_written());
      ASSERT_TRUE(output() == expected);
    }
  }
}

TEST_F(JobTest, StoppingLeavesNothingBehind) {
  test::Random random;
  const auto data = test::random_bytes(random, 64 * MiB);
  const auto in = raw_input(data, 8);
  std::stop_source stop;
  Job cancelled = job(in, mapping_of_all(in.description.shape(), bmmc::bit_reverse(23)),
                      {.memory = 16 * MiB, .access = work::AccessChoice::direct});
  EXPECT_THROW(cancelled.run([&](const work::Progress&) { stop.request_stop(); }, stop.get_token()),
               Cancelled);
  EXPECT_EQ(files(), (std::set<std::string>{"in.raw"}));
}

TEST_F(JobTest, AnInputThatChangesIsNotReportedAsSuccess) {
  test::Random random;
  const auto data = test::random_bytes(random, 16 * MiB);
  const auto in = raw_input(data, 8);
  Job changed = job(in, mapping_of_all(in.description.shape(), bmmc::bit_reverse(21)), {});
  bool touched = false;
  EXPECT_THAT(
      [&] {
        changed.run([&](const work::Progress&) {
          if (!touched)
            fs::last_write_time(directory_ / "in.raw",
                                fs::file_time_type::clock::now() + std::chrono::hours(1));
          touched = true;
        });
      },
      testing::ThrowsMessage<IoError>(testing::HasSubstr("changed while it was being read")));
  EXPECT_EQ(files(), (std::set<std::string>{"in.raw"}));
}

TEST_F(JobTest, RunsAgain) {
  test::Random random;
  const auto data = test::random_bytes(random, MiB);
  const auto in = raw_input(data, 1);
  const Reordering what = mapping_of_all(in.description.shape(), bmmc::gray(20));
  Job twice = job(in, what, {.overwrite = true});
  twice.run();
  twice.run();
  EXPECT_EQ(output(), test::performed(what, data));
}

TEST_F(JobTest, TooLittleMemoryIsRefused) {
  EXPECT_THAT([] { work::effective_memory(16 * MiB - 1); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("16 MiB")));
  EXPECT_GE(work::effective_memory(0), work::minimum_memory);
}

TEST_F(JobTest, MoreMemoryThanThereIsIsCutDownAndSaid) {
  const auto in = raw_input(std::vector<std::byte>(64), 1);
  const Reordering what = mapping_of_all(in.description.shape(), bmmc::gray(6));
  const plan::Summary enough = job(in, what, {.memory = 16 * MiB}).summary();
  EXPECT_EQ(enough.memory, 16 * MiB);
  EXPECT_EQ(enough.note, "");
  const plan::Summary much = job(in, what, {.memory = uint64_t{1} << 60}).summary();
  EXPECT_LT(much.memory, uint64_t{1} << 50);
  EXPECT_THAT(much.note, testing::StartsWith("asked for 1 EiB of memory; "));
}

}  // namespace
}  // namespace xorder::tiles
