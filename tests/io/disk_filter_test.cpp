#include "io/disk_filter.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "io/disks.hpp"
#include "io/file.hpp"
#include "io/memory.hpp"
#include "seed.hpp"
#include "work/meter.hpp"

namespace xorder::io {
namespace {

constexpr std::size_t block_size = 4096;

// Filters behind filters: every token comes back once, with its own error, whether it was submitted or
// posted.
TEST(DiskFilter, EveryTokenComesBackOnceThroughSeveralFilters) {
  test::Random random;
  SEED_TRACE(random);
  for (const QueueKind kind : {QueueKind::threads, QueueKind::uring}) {
    if (kind == QueueKind::uring && !uring_available()) continue;
    test::FailingDisk failing;
    failing.fail_transfer(Transfer::Kind::write, 5);
    work::Meter inner(failing);
    work::Meter outer(static_cast<Disk&>(inner));
    const File file =
        File::create_nameless(testing::TempDir(), "file", 64 * block_size, Access::direct, outer);
    const BlockMemory memory(64 * block_size);
    const auto queue = outer.queue(kind, 8);
    std::multiset<std::uint64_t> expected;
    std::map<std::uint64_t, int> errors;
    std::vector<Completion> done;
    std::size_t in_flight = 0;
    const auto wait = [&] {
      done.clear();
      queue->wait(done);
      for (const Completion& c : done) {
        const auto found = expected.find(c.token);
        ASSERT_NE(found, expected.end()) << c.token;
        expected.erase(found);
        if (c.error != 0) errors[c.token] = c.error;
        in_flight -= c.token < 1000 ? 1 : 0;
      }
    };
    for (std::uint64_t i = 0; i < 64; ++i) {
      if (i % 3 == 0) {
        expected.insert(1000 + i / 6);
        std::jthread([&] { queue->post(1000 + i / 6); });
      }
      Transfer write{.kind = Transfer::Kind::write,
                     .file = &file,
                     .offset = i * block_size,
                     .piece_count = 1,
                     .token = i / 2};
      write.pieces[0] = {memory.data() + i * block_size, block_size};
      expected.insert(write.token);
      queue->submit(write);
      ++in_flight;
      while (in_flight >= 8) wait();
    }
    while (!expected.empty()) wait();
    EXPECT_EQ(errors, (std::map<std::uint64_t, int>{{2, EIO}}));
    EXPECT_EQ(failing.writes(), 64);
    EXPECT_EQ(outer.count().writes, 63u);
    EXPECT_EQ(outer.count().bytes_written, 63 * block_size);
    EXPECT_EQ(inner.count().bytes(), outer.count().bytes());
  }
}

TEST(DiskFilter, AnOperationThatFailsIsSaidToHaveFailed) {
  for (long n = 0;; ++n) {
    test::FailingDisk disk;
    disk.fail_operation(n);
    try {
      File::create_nameless(testing::TempDir(), "file", block_size, Access::direct, disk).sync();
      if (!disk.failed()) return;  // there are fewer
      // Direct access that cannot be had is not needed.
      EXPECT_EQ(disk.failed_operation(), DiskFilter::Operation::open);
    } catch (const std::exception&) {
      EXPECT_TRUE(disk.failed());
    }
  }
}

}  // namespace
}  // namespace xorder::io
