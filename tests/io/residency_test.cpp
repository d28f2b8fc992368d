#include "io/page_cache/residency.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/scratch.hpp"

namespace xorder::io {
namespace {

using test::ScratchDirectory;

class Residency : public testing::Test {
 protected:
  // Of 16 MiB, on the disk and not in memory.
  static File cold_file(const ScratchDirectory& scratch) {
    test::write_file(scratch / "a", std::string(16 << 20, 'x'));
    File file = File::open_input(scratch / "a", Access::buffered);
    EXPECT_EQ(fsync(file.plain_descriptor()), 0);
    EXPECT_EQ(posix_fadvise(file.plain_descriptor(), 0, 0, POSIX_FADV_DONTNEED), 0);
    return file;
  }
};

TEST_F(Residency, OfTmpfsIsEverything) {
  const ScratchDirectory scratch;
  const test::TinyFileSystem tiny(scratch / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  test::write_file(scratch / "tiny/a", "x");
  const File file = File::open_input(scratch / "tiny/a", Access::direct);
  EXPECT_TRUE(only_in_memory(file.plain_descriptor()));
  EXPECT_TRUE(only_in_memory(scratch / "tiny"));
  EXPECT_FALSE(only_in_memory(scratch / "missing"));
}

TEST_F(Residency, IsWhatWasReadLast) {
  const ScratchDirectory scratch;
  const File file = cold_file(scratch);
  if (only_in_memory(file.plain_descriptor())) GTEST_SKIP() << "tmpfs keeps its files nowhere else";
  EXPECT_FALSE(mostly_cached(file));
  EXPECT_EQ(test::read_file(scratch / "a").size(), std::size_t{16} << 20);
  EXPECT_TRUE(mostly_cached(file));
}

// mincore() says "in memory" for each page of a file that the caller neither owns nor may write.
TEST_F(Residency, OfSomebodyElsesColdFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const ScratchDirectory scratch;
  const File file = cold_file(scratch);
  if (only_in_memory(file.plain_descriptor())) GTEST_SKIP() << "tmpfs keeps its files nowhere else";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (setresuid(nobody, nobody, nobody) != 0) _exit(2);
    _exit(mostly_cached(file) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace xorder::io
