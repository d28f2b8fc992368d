#include "io/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "io/page_cache/residency.hpp"
#include "io/ranges.hpp"
#include "io/scratch.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

TEST(Input, IsNoFileThatTheKernelMakesUp) {
  for (const char* const path : {"/proc/meminfo", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    if (!std::filesystem::exists(path)) continue;
    EXPECT_THAT(test::message_of<InputError>([&] { File::open_input(path, Access::buffered); }),
                ::testing::HasSubstr("the kernel makes its content up"));
  }
}

using test::message_of;
using test::ScratchDirectory;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string input_refusal(const std::filesystem::path& path) {
  return message_of<InputError>([&] { File::open_input(path, Access::direct); });
}

// What a look at the header would read ahead stays in the page cache, on nobody's account.
TEST(FileInput, DoesNotReadAhead) {
  const ScratchDirectory scratch;
  constexpr std::size_t bytes = 16 << 20;
  test::write_file(scratch / "a", std::string(bytes, 'x'));
  for (const Access access : {Access::direct, Access::buffered, Access::mapped}) {
    const File file = File::open_input(scratch / "a", access);
    if (only_in_memory(file.plain_descriptor())) GTEST_SKIP() << "tmpfs keeps its files nowhere else";
    ASSERT_EQ(fsync(file.plain_descriptor()), 0);
    ASSERT_EQ(posix_fadvise(file.plain_descriptor(), 0, 0, POSIX_FADV_DONTNEED), 0);
    char text[12];
    file.read_exactly(text, sizeof text, 0);
    void* const mapping = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.plain_descriptor(), 0);
    ASSERT_NE(mapping, MAP_FAILED);
    std::vector<unsigned char> resident(bytes / 4096);
    ASSERT_EQ(mincore(mapping, bytes, resident.data()), 0);
    munmap(mapping, bytes);
    EXPECT_LE(std::ranges::count_if(resident, [](unsigned char page) { return (page & 1) != 0; }), 4);
  }
}

// A file that has become shorter.
TEST(FileInput, SaysWhereItEnds) {
  const ScratchDirectory scratch;
  for (const Access access : {Access::direct, Access::buffered, Access::mapped}) {
    test::write_file(scratch / "a", std::string(20000, 'x'));
    const File file = File::open_input(scratch / "a", access);
    ASSERT_EQ(truncate((scratch / "a").c_str(), 5000), 0);
    std::vector<std::byte> data(20000);
    const auto ends = HasSubstr("read at byte 5000: the file ends at byte 5000");
    EXPECT_THAT(message_of<IoError>([&] { file.read_exactly(data.data(), 10, 9000); }),
                HasSubstr("read at byte 9000: the file ends at byte 5000"));
    EXPECT_THAT(message_of<IoError>([&] { file.read_exactly(data.data(), data.size(), 0); }), ends);
    if (access != Access::mapped) {
      EXPECT_THAT(message_of<IoError>([&] { read_range(file, 0, data.data(), data.size()); }), ends);
    }
  }
}

TEST(FileInput, KnowsSizeNameAndContent) {
  const ScratchDirectory scratch;
  test::write_file(scratch / "a", "hello, world");
  for (const Access access : {Access::direct, Access::buffered, Access::mapped}) {
    const File file = File::open_input(scratch / "a", access);
    EXPECT_EQ(file.size(), 12u);
    EXPECT_EQ(file.name(), (scratch / "a").string());
    EXPECT_FALSE(file.writable());
    char text[5];
    file.read_exactly(text, 5, 7);
    EXPECT_EQ(std::string(text, 5), "world");
    EXPECT_THAT(message_of<IoError>([&] { file.read_exactly(text, 5, 8); }), HasSubstr("byte 12"));
    EXPECT_EQ(fcntl(file.descriptor(), F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_RDONLY);
    EXPECT_EQ(fcntl(file.plain_descriptor(), F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_RDONLY);
  }
}

TEST(FileInput, SaysWhatCannotBeAnInput) {
  const ScratchDirectory scratch;
  EXPECT_THAT(input_refusal(scratch / "missing"),
              HasSubstr("missing: cannot be read: No such file or directory"));
  EXPECT_THAT(input_refusal(scratch.path()), HasSubstr("is a directory"));
  EXPECT_THAT(input_refusal("/dev/null"), HasSubstr("is a character device"));
  EXPECT_THAT(input_refusal("-"), HasSubstr("not on pipes"));
  EXPECT_THAT(input_refusal(""), HasSubstr("empty"));
  ASSERT_EQ(mkfifo((scratch / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(input_refusal(scratch / "fifo"), HasSubstr("is a FIFO"));

  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (scratch / "socket").c_str(), sizeof address.sun_path - 1);
  const Descriptor socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(input_refusal(scratch / "socket"), HasSubstr("is a socket"));
}

TEST(FileInput, AlignmentsArePowersOfTwoAndOneWithoutDirect) {
  const ScratchDirectory scratch;
  test::write_file(scratch / "a", std::string(10000, 'x'));
  const File direct = File::open_input(scratch / "a", Access::direct);
  if (direct.access() == Access::direct) {
    EXPECT_NE(fcntl(direct.descriptor(), F_GETFL) & O_DIRECT, 0);
    EXPECT_TRUE(std::has_single_bit(direct.offset_alignment()));
    EXPECT_TRUE(std::has_single_bit(direct.memory_alignment()));
    EXPECT_GE(direct.write_alignment(), 4096u);
  }
  EXPECT_EQ(fcntl(direct.plain_descriptor(), F_GETFL) & O_DIRECT, 0);
  const File mapped = File::open_input(scratch / "a", Access::mapped);
  EXPECT_EQ(mapped.access(), Access::mapped);
  EXPECT_EQ(mapped.offset_alignment() * mapped.memory_alignment() * mapped.write_alignment(), 1u);
}

TEST(FileInput, StampChangesWithTheFile) {
  const ScratchDirectory scratch;
  test::write_file(scratch / "a", "one");
  const File file = File::open_input(scratch / "a", Access::buffered);
  const FileStamp before = file.stamp();
  EXPECT_EQ(file.stamp(), before);
  test::write_file(scratch / "a", "longer");
  EXPECT_NE(file.stamp(), before);
  EXPECT_EQ(file.stamp().inode, before.inode);
}

TEST(NamelessFile, HasItsSizeReservedAndNoName) {
  const ScratchDirectory scratch;
  for (const Access access : {Access::direct, Access::buffered, Access::mapped}) {
    File file = File::create_nameless(scratch.path(), "scratch", 1 << 20, access);
    EXPECT_THAT(scratch.names(), IsEmpty());
    EXPECT_TRUE(file.writable());
    EXPECT_EQ(file.size(), 1u << 20);
    struct stat status;
    ASSERT_EQ(fstat(file.plain_descriptor(), &status), 0);
    EXPECT_EQ(status.st_size, 1 << 20);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_GE(status.st_blocks * 512, 1 << 20);

    file.write_exactly("abc", 3, 5000);
    File moved = std::move(file);
    moved.sync();
    char text[4];
    moved.read_exactly(text, 4, 4999);
    EXPECT_EQ(std::string(text, 4), std::string("\0abc", 4));
  }
}

TEST(NamelessFile, MayBeEmpty) {
  const ScratchDirectory scratch;
  const File file = File::create_nameless(scratch.path(), "scratch", 0, Access::mapped);
  EXPECT_EQ(file.stamp().size, 0u);
}

TEST(NamelessFile, SaysHowMuchRoomIsMissing) {
  const ScratchDirectory scratch;
  const auto text = [&](std::uint64_t bytes) {
    return message_of<InputError>(
        [&] { File::create_nameless(scratch.path(), "big", bytes, Access::buffered); });
  };
  EXPECT_THAT(text(std::uint64_t{1} << 62),
              StartsWith(scratch.path().string() + ": no room for big: needs 4611686018427387904 bytes"));
  EXPECT_THAT(text(std::numeric_limits<std::uint64_t>::max()), HasSubstr("no room for big"));

  const test::TinyFileSystem tiny(scratch / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  const std::string refused = message_of<InputError>(
      [&] { File::create_nameless(scratch / "tiny", "big", 2 << 20, Access::direct); });
  EXPECT_THAT(refused, HasSubstr("no room for big: needs 2097152 bytes (2 MiB), 1048576 bytes (1 MiB) free"));
  File::create_nameless(scratch / "tiny", "fits", 1 << 20, Access::direct);
}

TEST(NamelessFile, NeedsAWritableDirectory) {
  const ScratchDirectory scratch;
  const auto text = [&](const std::filesystem::path& directory) {
    return message_of<InputError>([&] { File::create_nameless(directory, "x", 10, Access::buffered); });
  };
  EXPECT_THAT(text(scratch / "missing"), HasSubstr("No such file or directory"));
  test::write_file(scratch / "file", "");
  EXPECT_THAT(text(scratch / "file"), HasSubstr("Not a directory"));
  test::TinyFileSystem tiny(scratch / "tiny", "size=1m");
  if (!tiny.mounted() || !tiny.seal()) GTEST_SKIP() << "mounting is not permitted";
  EXPECT_THAT(text(scratch / "tiny"), HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace xorder::io
