// The engines do the same thing: random transfers compared with a model in memory, and what they
// promise about ends of files, errors and posts.
#include "io/queue/queue.hpp"

#include "io/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "io/memory.hpp"
#include "io/page_cache/residency.hpp"
#include "io/scratch.hpp"
#include "seed.hpp"

namespace xorder::io {
namespace {

using test::ScratchDirectory;

struct Way {
  QueueKind kind;
  Access access;
};

std::string name_of(const ::testing::TestParamInfo<Way>& info) {
  const Way& way = info.param;
  const char* kinds[] = {"Uring", "Threads", "InMemory", "Mapped"};
  const char* accesses[] = {"Direct", "Buffered", "Mapped"};
  return std::string(kinds[static_cast<int>(way.kind)]) + accesses[static_cast<int>(way.access)];
}

class QueueTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().kind == QueueKind::uring && !uring_available()) GTEST_SKIP() << "no io_uring here";
  }
  std::unique_ptr<Queue> make(unsigned depth) { return make_queue(GetParam().kind, depth); }
  File make_file(std::uint64_t bytes) {
    return File::create_nameless(scratch_.path(), "data", bytes, GetParam().access);
  }
  const ScratchDirectory scratch_;
};

Transfer transfer(Transfer::Kind kind, const File& file, std::uint64_t offset, std::byte* data,
                  std::size_t bytes, std::uint64_t token) {
  Transfer result;
  result.kind = kind;
  result.file = &file;
  result.offset = offset;
  result.pieces[0] = {data, bytes};
  result.piece_count = 1;
  result.required_bytes = bytes;
  result.token = token;
  return result;
}

/// Waits for `count` completions.
std::map<std::uint64_t, Completion> collect(Queue& queue, std::size_t count) {
  std::map<std::uint64_t, Completion> result;
  std::vector<Completion> done;
  while (result.size() < count) {
    done.clear();
    queue.wait(done);
    EXPECT_FALSE(done.empty());
    for (const Completion& completion : done)
      EXPECT_TRUE(result.emplace(completion.token, completion).second);
  }
  return result;
}

/// Random disjoint ranges written in random order from random pieces, then read back as other ranges.
TEST_P(QueueTest, AgreesWithAModel) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < 6; ++round) {
    const unsigned depth = static_cast<unsigned>(random.in(1, 70));
    // The end of the file need not be aligned where transfers need not be.
    File file = make_file(0);
    const std::size_t unit = file.access() == Access::direct ? file.write_alignment() : 1;
    const std::size_t size = random.in(std::uint64_t{1}, std::uint64_t{1} << 21) / unit * unit + unit;
    file = make_file(size);
    file.set_keep_cached(random.in(0, 1) == 1);
    const std::unique_ptr<Queue> queue = make(depth);
    const BlockMemory model(size), memory(size);
    random.fill(model.data(), size);

    for (const Transfer::Kind kind : {Transfer::Kind::write, Transfer::Kind::read}) {
      const BlockMemory& source = kind == Transfer::Kind::write ? model : memory;
      std::vector<Transfer> transfers;
      for (std::size_t at = 0; at < size;) {
        const std::size_t most = std::min<std::size_t>(size - at, random.in(0, 9) == 0 ? 400'000 : 70'000);
        const std::size_t bytes = random.in(0, 20) == 0 ? 0 : std::min(size - at, most / unit * unit + unit);
        Transfer next = transfer(kind, file, at, source.data() + at, bytes, transfers.size());
        // Cut into up to three pieces, some empty.
        next.piece_count = random.in(1, 3);
        std::size_t left = bytes;
        for (int i = 0; i < next.piece_count; ++i) {
          const std::size_t part =
              i + 1 == next.piece_count ? left : random.in(std::uint64_t{0}, left / unit) * unit;
          next.pieces[static_cast<std::size_t>(i)] = {source.data() + at + bytes - left, part};
          left -= part;
        }
        transfers.push_back(next);
        at += bytes;
      }
      std::shuffle(transfers.begin(), transfers.end(), random);
      std::set<std::uint64_t> completed;
      std::vector<Completion> done;
      for (std::size_t next = 0; completed.size() < transfers.size();) {
        while (next < transfers.size() && next - completed.size() < depth) queue->submit(transfers[next++]);
        done.clear();
        queue->wait(done);
        for (const Completion& completion : done) {
          EXPECT_EQ(completion.error, 0) << "at " << completion.offset;
          EXPECT_TRUE(completed.insert(completion.token).second);
        }
      }
      if (kind == Transfer::Kind::write) file.sync();
    }
    ASSERT_EQ(std::memcmp(model.data(), memory.data(), size), 0) << "size " << size << ", depth " << depth;
  }
}

TEST_P(QueueTest, AReadMayEndWithTheFileIfItHasEnough) {
  test::write_file(scratch_ / "in", std::string(10'000, 'x'));
  const File file = File::open_input(scratch_ / "in", GetParam().access);
  const std::unique_ptr<Queue> queue = make(4);
  const BlockMemory memory(4 * 8192);
  const auto read = [&](std::uint64_t offset, std::size_t required, std::uint64_t token) {
    Transfer t = transfer(Transfer::Kind::read, file, offset, memory.data() + 8192 * token, 4096, token);
    t.pieces[1] = {memory.data() + 8192 * token + 4096, 4096};
    t.piece_count = 2;
    t.required_bytes = required;
    queue->submit(t);
  };
  read(8192, 10'000 - 8192, 0);
  read(8192, 10'000 - 8192 + 1, 1);
  read(12288, 0, 2);
  read(12288, 1, 3);
  const auto done = collect(*queue, 4);
  EXPECT_EQ(done.at(0).error, 0);
  EXPECT_EQ(memory.data()[10'000 - 8192 - 1], std::byte{'x'});
  EXPECT_EQ(done.at(1).error, EIO);
  EXPECT_EQ(done.at(1).offset, 10'000u);
  EXPECT_EQ(done.at(2).error, 0);
  EXPECT_EQ(done.at(3).error, EIO);
}

TEST_P(QueueTest, AFileThatShrankIsAnError) {
  test::write_file(scratch_ / "in", std::string(65'536, 'x'));
  const File file = File::open_input(scratch_ / "in", GetParam().access);
  ASSERT_EQ(truncate((scratch_ / "in").c_str(), 4096), 0);
  const std::unique_ptr<Queue> queue = make(1);
  const BlockMemory memory(32'768);
  queue->submit(transfer(Transfer::Kind::read, file, 32'768, memory.data(), 32'768, 7));
  EXPECT_EQ(collect(*queue, 1).at(7).error, EIO);
}

TEST_P(QueueTest, ReportsARefusalWithItsTokenAndOffset) {
  test::write_file(scratch_ / "in", std::string(65'536, 'x'));
  const File file = File::open_input(scratch_ / "in", GetParam().access);
  const std::unique_ptr<Queue> queue = make(3);
  const BlockMemory memory(8192);
  // Not open for writing.
  queue->submit(transfer(Transfer::Kind::write, file, 4096, memory.data(), 4096, 11));
  queue->submit(transfer(Transfer::Kind::read, file, 0, memory.data() + 4096, 4096, 12));
  const auto done = collect(*queue, 2);
  EXPECT_TRUE(done.at(11).error == EBADF || done.at(11).error == EACCES) << done.at(11).error;
  EXPECT_EQ(done.at(11).offset, 4096u);
  EXPECT_EQ(done.at(12).error, 0);
  EXPECT_EQ(memory.data()[4096], std::byte{'x'});
}

TEST_P(QueueTest, PostsFromSeveralThreadsWakeTheWaitingOne) {
  constexpr std::uint64_t threads = 4, each = 2000;
  const std::unique_ptr<Queue> queue = make(2);
  const File file = make_file(4096);
  const BlockMemory memory(4096);
  std::vector<std::jthread> posting;
  for (std::uint64_t t = 0; t < threads; ++t) {
    posting.emplace_back([&queue, t] {
      for (std::uint64_t i = 0; i < each; ++i) {
        queue->post(t * each + i);
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
  }
  // With a transfer among them.
  queue->submit(transfer(Transfer::Kind::read, file, 0, memory.data(), 4096, threads * each));
  const auto done = collect(*queue, threads * each + 1);
  EXPECT_EQ(done.rbegin()->first, threads * each);
}

TEST_P(QueueTest, APostWakesAQueueWithNothingInFlight) {
  const std::unique_ptr<Queue> queue = make(1);
  for (std::uint64_t i = 0; i < 200; ++i) {
    std::jthread later([&queue, i] {
      if (i % 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
      queue->post(i);
    });
    EXPECT_EQ(collect(*queue, 1).begin()->first, i);
  }
}

TEST_P(QueueTest, DestructionWaitsForWhatIsInFlight) {
  const File file = make_file(1 << 22);
  BlockMemory memory(1 << 22);
  for (int round = 0; round < 5; ++round) {
    const std::unique_ptr<Queue> queue = make(64);
    for (std::size_t i = 0; i < 64; ++i) {
      const auto kind = i % 2 ? Transfer::Kind::read : Transfer::Kind::write;
      queue->submit(transfer(kind, file, i << 16, memory.data() + (i << 16), 1 << 16, i));
    }
    if (round % 2) collect(*queue, 1);
  }
  // A write that is still under way would put later bytes into the file, and a read would overwrite them in
  // memory.
  BlockMemory first(1 << 22), second(1 << 22);
  std::memset(first.data(), 0x11, first.size());
  file.write_exactly(first.data(), first.size(), 0);
  for (int round = 0; round < 5; ++round) {
    {
      const std::unique_ptr<Queue> queue = make(64);
      for (std::size_t i = 0; i < 64; ++i) {
        const auto kind = i % 2 ? Transfer::Kind::read : Transfer::Kind::write;
        queue->submit(transfer(kind, file, i << 16, first.data() + (i << 16), 1 << 16, i));
      }
    }
    std::memset(first.data(), 0x22, first.size());
    file.read_exactly(second.data(), second.size(), 0);
    const auto all = [](const BlockMemory& bytes, int value) {
      return *bytes.data() == std::byte(value) &&
             std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
    };
    ASSERT_TRUE(all(second, 0x11)) << "in the file";
    ASSERT_TRUE(all(first, 0x22)) << "in memory";
    std::memset(first.data(), 0x11, first.size());
  }
}

class CachedQueueTest : public QueueTest {};

TEST_P(CachedQueueTest, TransfersLeaveLittleInThePageCache) {
  constexpr std::size_t block = 1 << 16, blocks = 1024;  // 64 MiB
  const File file = make_file(block * blocks);
  if (only_in_memory(file.plain_descriptor())) GTEST_SKIP() << "tmpfs keeps its files nowhere else";
  const std::unique_ptr<Queue> queue = make(8);
  BlockMemory memory(8 * block);
  for (const auto kind : {Transfer::Kind::write, Transfer::Kind::read}) {
    for (std::size_t i = 0; i < blocks; i += 8) {
      for (std::size_t j = 0; j < 8; ++j) {
        const std::size_t at = (i + j) * 619 % blocks;  // out of order
        queue->submit(transfer(kind, file, at * block, memory.data() + j * block, block, j));
      }
      for (const auto& [token, completion] : collect(*queue, 8)) ASSERT_EQ(completion.error, 0);
    }
    if (kind == Transfer::Kind::write) file.sync();
  }
  void* const mapping = mmap(nullptr, block * blocks, PROT_READ, MAP_SHARED, file.plain_descriptor(), 0);
  ASSERT_NE(mapping, MAP_FAILED);
  std::vector<unsigned char> resident(block * blocks / 4096);
  ASSERT_EQ(mincore(mapping, block * blocks, resident.data()), 0);
  munmap(mapping, block * blocks);
  const auto pages = std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; });
  // The window of 4 MiB, and what the kernel could not drop as something else held it at that moment.
  EXPECT_LE(pages * 4096, 8 << 20);
}

constexpr Way direct_ways[] = {{QueueKind::uring, Access::direct},
                               {QueueKind::threads, Access::direct},
                               {QueueKind::in_memory, Access::direct},
                               {QueueKind::mapped, Access::direct}};
constexpr Way cached_ways[] = {{QueueKind::uring, Access::buffered},
                               {QueueKind::threads, Access::buffered},
                               {QueueKind::in_memory, Access::buffered},
                               {QueueKind::mapped, Access::mapped}};

INSTANTIATE_TEST_SUITE_P(Direct, QueueTest, ::testing::ValuesIn(direct_ways), name_of);
INSTANTIATE_TEST_SUITE_P(Cached, QueueTest, ::testing::ValuesIn(cached_ways), name_of);
INSTANTIATE_TEST_SUITE_P(Cached, CachedQueueTest, ::testing::ValuesIn(cached_ways), name_of);

TEST(QueueErrors, AFullDiskIsAnErrorAndNoSignal) {
  const ScratchDirectory scratch;
  const test::TinyFileSystem tiny(scratch / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  // A file with nothing reserved, as on a file system that cannot: reserve, then punch it out and use up the
  // room.
  File file = File::create_nameless(scratch / "tiny", "data", 512 << 10, Access::mapped);
  ASSERT_EQ(fallocate(file.plain_descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 512 << 10), 0);
  const File other = File::create_nameless(scratch / "tiny", "other", 1 << 20, Access::buffered);
  const BlockMemory memory(65'536);
  for (const QueueKind kind : {QueueKind::threads, QueueKind::in_memory, QueueKind::mapped}) {
    const std::unique_ptr<Queue> queue = make_queue(kind, 1);
    queue->submit(transfer(Transfer::Kind::write, file, 131'072, memory.data(), 65'536, 3));
    const Completion completion = collect(*queue, 1).at(3);
    EXPECT_EQ(completion.error, ENOSPC);
    EXPECT_EQ(completion.offset, 131'072u);
  }
}

}  // namespace
}  // namespace xorder::io
