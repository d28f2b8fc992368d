#include "io/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "byte_units.hpp"
#include "io/scratch.hpp"

namespace xorder::io {
namespace {

/// A made-up /proc and /sys, with 1000 MiB of memory available.
class FakeSystem {
 public:
  FakeSystem() {
    put("proc/meminfo", "MemTotal:  4096000 kB\nMemFree:  100 kB\nMemAvailable:  1024000 kB\n");
    put("proc/self/status", "Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n");
  }
  void put(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((scratch_ / name).parent_path());
    test::write_file(scratch_ / name, content);
  }
  std::filesystem::path root() const { return scratch_.path(); }
  std::uint64_t available() const { return available_memory(root()); }
  std::optional<std::uint64_t> limit() const { return memory_limit(root()); }

 private:
  test::ScratchDirectory scratch_;
};

/// "N MiB" in bytes, as text.
std::string m(std::uint64_t n) { return std::to_string(n * MiB) + "\n"; }

const char* const version1_mounts =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/mem\\040ory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
const char* const version2_mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 master:5 - cgroup2 cgroup2 rw\n";

TEST(AvailableMemory, WithoutCgroupsIsTheKernelsEstimate) {
  FakeSystem system;
  EXPECT_EQ(system.available(), 1000 * MiB);
  EXPECT_EQ(system.limit(), 4000 * MiB);
  EXPECT_EQ(peak_resident_memory(system.root()), 2 * MiB);
  system.put("proc/meminfo", "MemTotal: 4096000 kB\nMemFree: 102400 kB\n");
  EXPECT_EQ(system.available(), 100 * MiB);
}

TEST(AvailableMemory, RespectsVersion1AndItsAncestors) {
  FakeSystem system;
  system.put("proc/self/mountinfo", version1_mounts);
  system.put("proc/self/cgroup", "5:devices:/\n4:memory:/outer/inner\n1:cpu:/outer\n0::/\n");
  const std::string top = "sys/fs/cgroup/mem ory/";
  system.put(top + "memory.limit_in_bytes", "9223372036854771712\n");  // none
  system.put(top + "memory.usage_in_bytes", m(3000));
  system.put(top + "outer/inner/memory.limit_in_bytes", m(800));
  system.put(top + "outer/inner/memory.usage_in_bytes", m(300));
  // Usage 300 of which 100 can be dropped: 800 - 200. The total is what counts, with the children.
  system.put(top + "outer/inner/memory.stat", "cache 1\ninactive_file 5\ntotal_inactive_file " + m(100));
  EXPECT_EQ(system.available(), 600 * MiB);
  EXPECT_EQ(system.limit(), 800 * MiB);
  // The outer one leaves less: 900 - 850.
  system.put(top + "outer/memory.limit_in_bytes", m(900));
  system.put(top + "outer/memory.usage_in_bytes", m(850));
  EXPECT_EQ(system.available(), 50 * MiB);
  EXPECT_EQ(system.limit(), 800 * MiB);
  // More used than allowed, as right after the limit was lowered.
  system.put(top + "outer/memory.usage_in_bytes", m(950));
  EXPECT_EQ(system.available(), 0u);
}

TEST(AvailableMemory, RespectsVersion2) {
  FakeSystem system;
  system.put("proc/self/mountinfo", version2_mounts);
  system.put("proc/self/cgroup", "0::/user.slice/job\n");
  const std::string top = "sys/fs/cgroup/";
  system.put(top + "user.slice/job/memory.max", "max\n");
  system.put(top + "user.slice/job/memory.current", m(10));
  EXPECT_EQ(system.available(), 1000 * MiB);
  EXPECT_EQ(system.limit(), 4000 * MiB);
  system.put(top + "user.slice/memory.max", m(500));
  system.put(top + "user.slice/memory.current", m(100));
  system.put(top + "user.slice/memory.stat", "anon 1\ninactive_file " + m(40) + "active_file 3\n");
  EXPECT_EQ(system.available(), 440 * MiB);
  EXPECT_EQ(system.limit(), 500 * MiB);
  system.put(top + "user.slice/job/memory.high", m(300));
  EXPECT_EQ(system.available(), 290 * MiB);
  EXPECT_EQ(system.limit(), 300 * MiB);
}

TEST(AvailableMemory, InAContainerThePathMayNotBeThere) {
  for (const char* path : {"0::/docker/abc/def\n", "0::/../..\n", "0::/\n"}) {
    FakeSystem system;
    system.put("proc/self/mountinfo", version2_mounts);
    system.put("proc/self/cgroup", path);
    system.put("sys/fs/cgroup/memory.max", m(200));
    system.put("sys/fs/cgroup/memory.current", m(50));
    EXPECT_EQ(system.available(), 150 * MiB) << path;
  }
  // Only a part of the hierarchy is mounted, and the path is given from its root.
  FakeSystem system;
  system.put("proc/self/mountinfo", "31 23 0:28 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  system.put("proc/self/cgroup", "0::/docker/abc/def\n");
  system.put("sys/fs/cgroup/def/memory.max", m(70));
  EXPECT_EQ(system.available(), 70 * MiB);
}

TEST(AvailableMemory, SurvivesGarbage) {
  FakeSystem system;
  system.put("proc/self/mountinfo", "\n - \n1 2 - cgroup2\n31 23 0:28 / /sys\\9 rw - cgroup2 x rw\nx");
  system.put("proc/self/cgroup", "\n::\n0:\n0::\n4:memory:\n");
  system.put("proc/meminfo", "MemAvailable: lots\nMemFree:\n");
  EXPECT_EQ(system.available(), 0u);
  EXPECT_EQ(system.limit(), std::nullopt);
}

TEST(AvailableMemory, OfThisMachineIsPlausible) {
  EXPECT_GT(available_memory(), 0u);
  EXPECT_GT(peak_resident_memory(), MiB / 2);
  if (const auto limit = memory_limit()) {
    EXPECT_GE(*limit, available_memory());
  }
}

TEST(BlockMemoryTest, IsZeroedAndAligned) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{4096}, std::size_t{2 * MiB}, std::size_t{5 * MiB + 17}}) {
    const BlockMemory memory(bytes);
    EXPECT_EQ(memory.size(), bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    EXPECT_EQ(address % (bytes >= 2 * MiB ? 2 * MiB : 4096), 0u);
    EXPECT_TRUE(
        std::all_of(memory.data(), memory.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    memory.data()[bytes - 1] = std::byte{1};
  }
}

bool can_populate(const BlockMemory& memory) {
  return madvise(memory.data(), 4096, MADV_POPULATE_WRITE) == 0 || errno != EINVAL;
}

std::uint64_t resident_bytes(const BlockMemory& memory) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident(memory.size() / page);
  EXPECT_EQ(mincore(memory.data(), memory.size(), resident.data()), 0);
  const auto is_there = [](unsigned char r) { return (r & 1) != 0; };
  return static_cast<std::uint64_t>(std::ranges::count_if(resident, is_there)) * page;
}

// See BlockMemory's constructor: threads that touch it at the same time would take more.
TEST(BlockMemoryTest, AFewMegabytesAreThereAtOnce) {
  const BlockMemory memory(5 * MiB);
  if (!can_populate(memory)) GTEST_SKIP() << "memory cannot be populated before Linux 5.14";
  EXPECT_EQ(resident_bytes(memory), 5 * MiB);
}

TEST(BlockMemoryTest, OrAsTheyAreUsed) {
  BlockMemory memory(9 * MiB, BlockMemory::Resident::as_used);
  EXPECT_EQ(resident_bytes(memory), 0u);
  memory.use(0, 1);
  if (!can_populate(memory)) GTEST_SKIP() << "memory cannot be populated before Linux 5.14";
  EXPECT_EQ(resident_bytes(memory), 2 * MiB);
  memory.use(5 * MiB, 6 * MiB);
  EXPECT_EQ(resident_bytes(memory), 4 * MiB);
  memory.use(5 * MiB, 6 * MiB + 1);
  EXPECT_EQ(resident_bytes(memory), 6 * MiB);
  memory.use(8 * MiB, 9 * MiB);
  EXPECT_EQ(resident_bytes(memory), 7 * MiB);
}

TEST(BlockMemoryTest, MovesAndMayBeEmpty) {
  BlockMemory empty(0), memory(100);
  EXPECT_EQ(empty.data(), nullptr);
  std::byte* const data = memory.data();
  empty = std::move(memory);
  EXPECT_EQ(empty.data(), data);
  EXPECT_EQ(empty.size(), 100u);
  const BlockMemory other = std::move(empty);
  EXPECT_EQ(other.data(), data);
}

TEST(BlockMemoryTest, ThrowsWhenThereIsNone) {
  EXPECT_THROW(BlockMemory(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  EXPECT_THROW(BlockMemory(std::size_t{1} << 60), std::bad_alloc);
}

}  // namespace
}  // namespace xorder::io
