// Jobs of several members, here threads, that make one output together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "io/disks.hpp"
#include "io/format/on_disk.hpp"
#include "plan/plan.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"
#include "tiles/job_of_team.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

namespace fs = std::filesystem;

// Where the threads meet.
struct MeetingPlace {
  explicit MeetingPlace(std::size_t members) : given(members), moved(members) {}

  // Each gives a row; the last one to come hands out all of them.
  std::vector<std::vector<std::string>> meet(std::size_t rank, std::vector<std::string> row) {
    std::unique_lock lock(mutex);
    if (failed) throw Error("a member has failed");
    given[rank] = std::move(row);
    const int mine = meeting;
    if (++arrived == given.size()) {
      handed_out = given;
      arrived = 0;
      ++meeting;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return failed || meeting != mine; });
    if (meeting == mine) throw Error("a member has failed");
    return handed_out;
  }
  void fail() {
    const std::lock_guard lock(mutex);
    failed = true;
    changed.notify_all();
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<std::string>> given, handed_out;
  std::size_t arrived = 0;
  int meeting = 0;
  std::atomic<bool> failed = false;
  std::vector<std::atomic<std::uint64_t>> moved;
};

class Member final : public work::Team {
 public:
  Member(MeetingPlace& place, std::size_t rank) : place_(place), rank_(rank) {}

  int rank() const override { return static_cast<int>(rank_); }
  int size() const override { return static_cast<int>(place_.given.size()); }
  unsigned neighbours() const override { return static_cast<unsigned>(size()); }
  unsigned processors() const override { return 2; }
  std::vector<std::string> share(std::string mine) override {
    std::vector<std::string> all;
    for (auto& row : place_.meet(rank_, {std::move(mine)})) all.push_back(std::move(row.front()));
    return all;
  }
  std::vector<std::string> exchange(std::vector<std::string> to_each) override {
    std::vector<std::string> mine;
    for (auto& row : place_.meet(rank_, std::move(to_each))) mine.push_back(std::move(row[rank_]));
    exchanged = 0;
    for (const std::string& bytes : mine) exchanged += bytes.size();
    return mine;
  }
  std::uint64_t progress(std::uint64_t bytes) override {
    place_.moved[rank_] = bytes;
    std::uint64_t sum = 0;
    for (const auto& each : place_.moved) sum += each;
    return sum;
  }
  bool stopping() override { return place_.failed; }
  void when_idle(std::function<void()>) override {}
  void temporary(const std::vector<fs::path>&) override {}

  std::size_t exchanged = 0;

 private:
  MeetingPlace& place_;
  std::size_t rank_;
};

class TeamTest : public testing::Test {
 protected:
  TeamTest() : directory_(fs::path(testing::TempDir()) / ("xorder-team-" + std::to_string(getpid()))) {
    fs::create_directories(directory_);
  }
  ~TeamTest() override { fs::remove_all(directory_); }

  io::ArrayFile input(const std::vector<std::byte>& data, std::uint64_t element_bytes) {
    std::ofstream(directory_ / "in.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    return io::open_raw_array(directory_ / "in.raw",
                              {io::parse_dtype("V" + std::to_string(element_bytes)), {}, 0});
  }
  std::vector<std::byte> output(std::size_t offset) {
    std::ifstream file(directory_ / "out.raw", std::ios::binary);
    std::vector<std::byte> bytes(fs::file_size(directory_ / "out.raw") - offset);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  std::set<std::string> files() {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) names.insert(entry.path().filename());
    return names;
  }

  struct Outcome {
    std::vector<std::string> errors;  // by rank; empty: none
    work::Report report;              // the first member's
    std::size_t passes = 0, exchanged = 0;
    std::uint64_t runs = 0;               // of a tile of the first pass
    std::vector<std::uint64_t> progress;  // the first member's, once
  };
  // `disks` by rank; none: the system's.
  Outcome run(const io::ArrayFile& in, const Reordering& what, const work::Options& options,
              std::size_t members, const std::vector<io::Disk*>& disks = {}) {
    MeetingPlace place(members);
    Outcome outcome;
    outcome.errors.resize(members);
    const auto member = [&](std::size_t rank) {
      Member team(place, rank);
      try {
        const io::ArrayFile own = disks.empty() ? in : io::on_disk(in, *disks[rank]);
        const auto job =
            job_of_team({own}, what, in.description.extents, directory_ / "out.raw", options, team);
        const auto report = job->run([&](const work::Progress& p) {
          if (rank == 0) outcome.progress.push_back(p.bytes_done);
        });
        if (rank == 0) outcome.report = report;
        if (rank == 0) outcome.passes = job->plan().passes.size();
        if (rank == 0 && outcome.passes > 0)
          outcome.runs = job->plan().passes.front().tiling.target_shape().run_count;
      } catch (const std::exception& e) {
        outcome.errors[rank] = e.what();
        place.fail();
      }
      static std::mutex mutex;
      const std::lock_guard lock(mutex);
      outcome.exchanged += team.exchanged;
    };
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < members; ++rank) threads.emplace_back(member, rank);
    threads.clear();
    return outcome;
  }

  fs::path directory_;
};

// Of several tiles with the least memory.
plan::Device needs_requests_of(std::uint64_t bytes) {
  return plan::Device::parse(R"({"points": [[)" + std::to_string(bytes) + R"(, 1e6, 1e6]]})", "test");
}

TEST_F(TeamTest, MakesTheSameBytes) {
  test::Random random;
  SEED_TRACE(random);
  const std::vector<Reordering> reorderings{
      transposition({{1500, 2100}, 5}, {}),  // 15 MB, no two runs of which meet at a block's edge
      transposition({{7, 600, 1001}, 4}, std::vector<int>{1, 0, 2}),
      mapping_of_all({{std::uint64_t{1} << 21}, 8}, test::random_map(random, 21)),
      mapping_of_all({{std::uint64_t{1} << 20}, 1}, test::random_map(random, 20)),
      transposition({{3, 5}, 1}, {}),
      transposition({{0, 5}, 8}, {})};
  for (const Reordering& what : reorderings) {
    const auto data = test::random_bytes(random, what.bytes());
    const io::ArrayFile in = input(data, what.element_bytes);
    const auto expected = test::performed(what, data);
    for (const std::size_t members : {1, 2, 3, 5}) {
      for (const std::uint64_t offset : {0, 777}) {
        if (test::sanitized && random.in(0, 1) == 0) continue;
        work::Options options{.memory = work::minimum_memory, .output_offset = offset, .overwrite = true};
        const Outcome outcome = run(in, what, options, members);
        ASSERT_THAT(outcome.errors, testing::Each(""));
        ASSERT_TRUE(output(offset) == expected) << members << " members, offset " << offset;
        EXPECT_THAT(files(), testing::UnorderedElementsAre("in.raw", "out.raw"));
        EXPECT_EQ(outcome.report.bytes_written, what.bytes() * outcome.passes);
        EXPECT_TRUE(std::ranges::is_sorted(outcome.progress));
        EXPECT_EQ(outcome.progress.back(), 2 * what.bytes() * outcome.passes);
      }
    }
  }
}

TEST_F(TeamTest, ExchangesBlocksThatJoinTheirTiles) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{3001, 2003}, 3}, {});
  const auto data = test::random_bytes(random, what.bytes());
  work::Options options{.memory = work::minimum_memory, .access = work::AccessChoice::direct};
  const Outcome outcome = run(input(data, 3), what, options, 3);
  ASSERT_THAT(outcome.errors, testing::Each(""));
  EXPECT_GT(outcome.exchanged, 0u);
  // Of the runs of the tiles at both ends of a share, both ends.
  EXPECT_LE(outcome.exchanged, 3 * 4 * outcome.runs * (4096 + 16));
  EXPECT_TRUE(output(0) == test::performed(what, data));
}

TEST_F(TeamTest, SharesScratchFilesBetweenPasses) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = mapping_of_all({{std::uint64_t{1} << 22}, 4}, test::random_map(random, 22));
  const auto data = test::random_bytes(random, what.bytes()), expected = test::performed(what, data);
  const io::ArrayFile in = input(data, 4);
  for (const std::size_t members : {2, 3}) {
    work::Options options{
        .memory = work::minimum_memory, .device = needs_requests_of(1 << 20), .overwrite = true};
    const Outcome outcome = run(in, what, options, members);
    ASSERT_THAT(outcome.errors, testing::Each(""));
    EXPECT_GT(outcome.passes, 1u);
    EXPECT_TRUE(output(0) == expected);
    EXPECT_THAT(files(), testing::UnorderedElementsAre("in.raw", "out.raw"));
  }
}

TEST_F(TeamTest, OneThatFailsEndsAll) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{1500, 2100}, 5}, {});
  const io::ArrayFile in = input(test::random_bytes(random, what.bytes()), 5);
  for (const auto kind : {io::Transfer::Kind::read, io::Transfer::Kind::write}) {
    for (const int number : {1, 20}) {
      for (const std::size_t failing : {0, 2}) {
        test::FailingDisk disk;
        disk.fail_transfer(kind, number);
        std::vector<io::Disk*> disks(3, &io::system_disk());
        disks[failing] = &disk;
        const Outcome outcome = run(in, what, {.memory = work::minimum_memory}, 3, disks);
        ASSERT_TRUE(disk.failed());
        EXPECT_THAT(outcome.errors, testing::Each(testing::Ne("")));
        EXPECT_THAT(outcome.errors[failing], testing::HasSubstr("Input/output error"));
        EXPECT_THAT(files(), testing::UnorderedElementsAre("in.raw"));
      }
    }
  }
}

TEST_F(TeamTest, RefusesWhatCannotBeShared) {
  test::Random random;
  const Reordering what = transposition({{30, 20}, 8}, {});
  const io::ArrayFile in = input(test::random_bytes(random, what.bytes()), 8);
  const Outcome mapped = run(in, what, {.access = work::AccessChoice::mapped}, 2);
  EXPECT_THAT(mapped.errors, testing::Each(testing::HasSubstr("cannot map")));
  EXPECT_THAT(files(), testing::UnorderedElementsAre("in.raw"));
}

}  // namespace
}  // namespace xorder::tiles
