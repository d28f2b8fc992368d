#include "io/output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io/descriptor.hpp"
#include "io/disk_filter.hpp"
#include "io/scratch.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::read_file;
using test::ScratchDirectory;
using test::write_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Every test both ways: nameless where the file system can, and under a temporary name.
class OutputTest : public ::testing::TestWithParam<Output::Naming> {
 protected:
  OutputTest() { write_file(scratch_ / "in", "input"); }

  Output& make(const std::string& name, bool overwrite, std::uint64_t bytes = 3,
               Access access = Access::buffered) {
    input_.emplace(File::open_input(scratch_ / "in", Access::buffered));
    output_.emplace(scratch_ / name, bytes, overwrite, access, *input_, GetParam());
    return *output_;
  }
  std::string refusal(const std::string& name, bool overwrite, std::uint64_t bytes = 3) {
    const auto before = scratch_.names();
    const std::string text = message_of<InputError>([&] { make(name, overwrite, bytes); });
    EXPECT_EQ(scratch_.names(), before);
    const File input = File::open_input(scratch_ / "in", Access::buffered);
    const std::string checked =
        message_of<InputError>([&] { Output::check(scratch_ / name, bytes, overwrite, input); });
    EXPECT_EQ(without_free_bytes(checked), without_free_bytes(text));
    return text;
  }
  mode_t mode_of(const std::string& name) const {
    struct stat status;
    EXPECT_EQ(stat((scratch_ / name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  /// What is free changes while other programs write.
  static std::string without_free_bytes(const std::string& text) {
    return text.ends_with(" free") ? text.substr(0, text.rfind(", ")) : text;
  }

  const ScratchDirectory scratch_;
  std::optional<File> input_;
  std::optional<Output> output_;
};

TEST_P(OutputTest, AppearsWithCommitOnly) {
  for (const Access access : {Access::direct, Access::buffered, Access::mapped}) {
    Output& output = make("out", false, 3, access);
    EXPECT_FALSE(fs::exists(scratch_ / "out"));
    output.file().write_exactly("new", 3, 0);
    output.commit();
    output_.reset();
    EXPECT_EQ(read_file(scratch_ / "out"), "new");
    EXPECT_THAT(scratch_.names(), ElementsAre("in", "out"));
    fs::remove(scratch_ / "out");
  }
}

TEST_P(OutputTest, WithdrawsWhatIsNewAndItsOwn) {
  Output& fresh = make("out", false);
  fresh.withdraw();  // nothing is there yet
  fresh.commit();
  fresh.withdraw();
  EXPECT_THAT(scratch_.names(), ElementsAre("in"));

  Output& lost = make("out", false);
  lost.commit();
  fs::remove(scratch_ / "out");
  write_file(scratch_ / "out", "another's");
  lost.withdraw();
  EXPECT_EQ(read_file(scratch_ / "out"), "another's");

  Output& replacing = make("out", true);
  replacing.file().write_exactly("new", 3, 0);
  replacing.commit();
  replacing.withdraw();  // the old one would not come back
  EXPECT_EQ(read_file(scratch_ / "out"), "new");
}

TEST_P(OutputTest, LeavesNothingWithoutCommit) {
  make("out", false);
  output_.reset();
  EXPECT_THAT(scratch_.names(), ElementsAre("in"));
}

TEST_P(OutputTest, OverwritesAtomicallyAndKeepsPermissions) {
  write_file(scratch_ / "out", "an old one");
  ASSERT_EQ(chmod((scratch_ / "out").c_str(), 0640), 0);
  EXPECT_THAT(refusal("out", false), HasSubstr("exists"));
  Output& output = make("out", true);
  output.file().write_exactly("new", 3, 0);
  EXPECT_EQ(read_file(scratch_ / "out"), "an old one");
  output.commit();
  EXPECT_EQ(read_file(scratch_ / "out"), "new");
  output_.reset();
  EXPECT_THAT(scratch_.names(), ElementsAre("in", "out"));
  struct stat status;
  ASSERT_EQ(stat((scratch_ / "out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_P(OutputTest, SetIdBitsAreNotForNewContent) {
  write_file(scratch_ / "out", "an old one");
  ASSERT_EQ(chmod((scratch_ / "out").c_str(), 06755), 0);
  make("out", true).commit();
  EXPECT_EQ(mode_of("out"), 0755u);
}

// POSIX access control lists as the kernel has them: tag, permissions and id of each entry.
struct AclEntry {
  std::uint16_t tag, permissions;
  std::uint32_t id = ~0u;
};
std::string acl(const std::vector<AclEntry>& entries) {
  std::string text("\2\0\0\0", 4);
  for (const AclEntry& e : entries) text.append(reinterpret_cast<const char*>(&e), sizeof e);
  return text;
}
constexpr std::uint16_t owner_tag = 1, user_tag = 2, group_tag = 4, mask_tag = 16, others_tag = 32;
const char* const acl_name = "system.posix_acl_access";

bool set_attribute(const fs::path& path, const char* name, const std::string& value) {
  return setxattr(path.c_str(), name, value.data(), value.size(), 0) == 0;
}
std::string attribute(const fs::path& path, const char* name) {
  std::string value(1000, '\0');
  const ssize_t bytes = getxattr(path.c_str(), name, value.data(), value.size());
  value.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return value;
}

// The group's bits of its mode are what the list allows at most; the group itself may do nothing.
const std::string list =
    acl({{owner_tag, 6}, {user_tag, 6, 4001}, {group_tag, 0}, {mask_tag, 6}, {others_tag, 0}});

TEST_P(OutputTest, AttributesAndAccessListsAreKept) {
  const fs::path out = scratch_ / "out";
  write_file(out, "an old one");
  if (!set_attribute(out, acl_name, list)) GTEST_SKIP() << "no access control lists here";
  const bool attributes = set_attribute(out, "user.origin", "somewhere");
  // cap_net_raw for whoever runs it.
  set_attribute(out, "security.capability", std::string("\1\0\0\2\0\40\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20));
  const mode_t before = mode_of("out");
  make("out", true).commit();
  EXPECT_EQ(attribute(out, acl_name), list);
  EXPECT_EQ(mode_of("out"), before);
  EXPECT_EQ(attribute(out, "user.origin"), attributes ? "somewhere" : "");
  EXPECT_EQ(attribute(out, "security.capability"), "");
}

TEST_P(OutputTest, ADirectorysAccessListLetsNobodyIn) {
  write_file(scratch_ / "out", "an old one");
  ASSERT_EQ(chmod((scratch_ / "out").c_str(), 0640), 0);
  if (!set_attribute(scratch_.path(), "system.posix_acl_default", list))
    GTEST_SKIP() << "no access control lists here";
  make("out", true).commit();
  EXPECT_EQ(attribute(scratch_ / "out", acl_name), "");
  EXPECT_EQ(mode_of("out"), 0640u);
}

// Acts as another user until it is destroyed.
class As {
 public:
  As(uid_t user, gid_t group, const std::vector<gid_t>& groups) : groups_(64) {
    groups_.resize(static_cast<std::size_t>(std::max(getgroups(64, groups_.data()), 0)));
    done_ = setgroups(groups.size(), groups.data()) == 0 && setegid(group) == 0 && seteuid(user) == 0;
  }
  ~As() {
    EXPECT_EQ(seteuid(0), 0);
    EXPECT_EQ(setegid(0), 0);
    EXPECT_EQ(setgroups(groups_.size(), groups_.data()), 0);
  }
  bool done() const { return done_; }

 private:
  std::vector<gid_t> groups_;
  bool done_ = false;
};

TEST_P(OutputTest, WithoutTheListTheGroupGetsNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of several users";
  const fs::path out = scratch_ / "out";
  write_file(out, "an old one");
  ASSERT_EQ(chown(out.c_str(), 4001, 4003), 0);
  ASSERT_EQ(chmod(scratch_.path().c_str(), 0777), 0);
  if (!set_attribute(out, acl_name, list)) GTEST_SKIP() << "no access control lists here";
  {
    const As other(4002, 4004, {});
    if (!other.done() || euidaccess(scratch_.path().c_str(), W_OK) != 0)
      GTEST_SKIP() << "other users cannot come here";
    make("out", true).commit();
  }
  EXPECT_EQ(attribute(out, acl_name), "");
  EXPECT_EQ(mode_of("out"), 0600u);
}

// Another user's file, replaced by one who may not give files away.
TEST_P(OutputTest, AnotherGroupGetsNoMoreThanAll) {
  constexpr uid_t owner = 4001, user = 4002;
  constexpr gid_t group = 4003, own_group = 4004;
  if (geteuid() != 0 || chown((scratch_ / "in").c_str(), owner, group) != 0)
    GTEST_SKIP() << "only root can make files of several users";
  ASSERT_EQ(chmod(scratch_.path().c_str(), 0777), 0);
  for (const bool member : {false, true}) {
    write_file(scratch_ / "out", "an old one");
    ASSERT_EQ(chown((scratch_ / "out").c_str(), owner, group), 0);
    ASSERT_EQ(chmod((scratch_ / "out").c_str(), 0664), 0);
    {
      const As other(user, own_group, member ? std::vector<gid_t>{group} : std::vector<gid_t>{});
      if (!other.done() || euidaccess(scratch_.path().c_str(), W_OK) != 0)
        GTEST_SKIP() << "other users cannot come here";
      make("out", true).commit();
    }
    struct stat status;
    ASSERT_EQ(stat((scratch_ / "out").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, user);
    EXPECT_EQ(status.st_gid, member ? group : own_group);
    EXPECT_EQ(status.st_mode & 07777, member ? 0664u : 0644u);
  }
}

TEST_P(OutputTest, HasThePermissionsOfItsMaker) {
  const File input = File::open_input(scratch_ / "in", Access::buffered);
  const mode_t old = umask(022);
  Output output(scratch_ / "out", 3, false, Access::buffered, input, GetParam(), 0660);
  umask(old);
  struct stat status;
  ASSERT_EQ(fstat(output.file().plain_descriptor(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_P(OutputTest, AnAbandonedOverwriteLeavesTheOldFile) {
  write_file(scratch_ / "out", "an old one");
  make("out", true).file().write_exactly("new", 3, 0);
  output_.reset();
  EXPECT_EQ(read_file(scratch_ / "out"), "an old one");
  EXPECT_THAT(scratch_.names(), ElementsAre("in", "out"));
}

TEST_P(OutputTest, HonoursTheUmask) {
  const mode_t old = umask(027);
  make("out", false).commit();
  umask(old);
  struct stat status;
  ASSERT_EQ(stat((scratch_ / "out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_P(OutputTest, FollowsASymbolicLink) {
  fs::create_directory(scratch_ / "sub");
  write_file(scratch_ / "sub/target", "old");
  fs::create_symlink("sub/target", scratch_ / "link");
  fs::create_symlink("link", scratch_ / "link2");
  EXPECT_THAT(refusal("link2", false), HasSubstr("exists"));
  make("link2", true).file().write_exactly("new", 3, 0);
  output_->commit();
  EXPECT_TRUE(fs::is_symlink(scratch_ / "link2"));
  EXPECT_EQ(read_file(scratch_ / "sub/target"), "new");

  fs::create_symlink("sub/nothing", scratch_ / "dangling");
  make("dangling", false).commit();
  EXPECT_TRUE(fs::is_regular_file(scratch_ / "sub/nothing"));
  EXPECT_TRUE(fs::is_symlink(scratch_ / "dangling"));

  fs::create_symlink("loop", scratch_ / "loop");
  EXPECT_THAT(refusal("loop", true), HasSubstr("symbolic links"));
}

// As the kernel does where the link leads to the file itself.
TEST_P(OutputTest, FollowsNoLinkOfAnotherUserWhereAllMayWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of several users";
  const fs::path shared = scratch_ / "shared", link = shared / "link";
  fs::create_directory(shared);
  fs::create_symlink(scratch_ / "target", link);
  fs::create_symlink("shared/link", scratch_ / "first");
  const struct {
    mode_t mode;
    uid_t link_owner, directory_owner;
    bool followed;
  } cases[] = {{01777, 4001, 0, false},   {01777, 4001, 4002, false}, {01777, 0, 4001, true},
               {01777, 4001, 4001, true}, {0777, 4001, 0, true},      {01775, 4001, 0, true}};
  for (const auto& c : cases) {
    ASSERT_EQ(chmod(shared.c_str(), c.mode), 0);
    ASSERT_EQ(chown(shared.c_str(), c.directory_owner, 0), 0);
    ASSERT_EQ(lchown(link.c_str(), c.link_owner, 0), 0);
    for (const char* const name : {"shared/link", "first"}) {
      if (c.followed) {
        make(name, false).commit();
        EXPECT_TRUE(fs::remove(scratch_ / "target"));
      } else {
        EXPECT_THAT(refusal(name, false), HasSubstr("is a symbolic link of another user"));
      }
    }
  }
}

TEST_P(OutputTest, SaysWhereItIsIfItsDirectoryWasMoved) {
  fs::create_directory(scratch_ / "d");
  make("d/out", false).file().write_exactly("new", 3, 0);
  fs::rename(scratch_ / "d", scratch_ / "e");
  EXPECT_THAT(message_of<IoError>([&] { output_->commit(); }),
              ::testing::AllOf(HasSubstr("d/out: is complete, but not there"),
                               HasSubstr("it is " + (fs::canonical(scratch_ / "e") / "out").string())));
  EXPECT_EQ(read_file(scratch_ / "e/out"), "new");
}

// Fails to sync after the file itself, which is synced once.
class UnsyncedDirectory final : public DiskFilter {
 public:
  UnsyncedDirectory() : DiskFilter(system_disk()) {}
  using DiskFilter::before;
  int before(Operation operation) override { return operation == Operation::sync && syncs_++ == 1 ? EIO : 0; }

 private:
  int syncs_ = 0;
};

TEST_P(OutputTest, SaysThatItIsCompleteIfOnlyItsDirectoryCannotBeSynced) {
  UnsyncedDirectory disk;
  Output output(scratch_ / "out", 3, false, Access::buffered, disk, nullptr, GetParam());
  output.file().write_exactly("new", 3, 0);
  EXPECT_THAT(message_of<IoError>([&] { output.commit(); }),
              HasSubstr("out: is complete, but its directory"));
  EXPECT_EQ(read_file(scratch_ / "out"), "new");
}

TEST_P(OutputTest, RefusesTheInputUnderAnyName) {
  fs::create_hard_link(scratch_ / "in", scratch_ / "hard");
  fs::create_symlink("in", scratch_ / "soft");
  for (const char* name : {"in", "hard", "soft", "./in"}) {
    EXPECT_THAT(refusal(name, true), HasSubstr("is the same file as the input")) << name;
  }
  EXPECT_EQ(read_file(scratch_ / "in"), "input");
}

// Sets the file's attributes as chattr does, while it lives.
class Attributes {
 public:
  Attributes(const fs::path& path, int flags) : file_(open(path.c_str(), O_RDONLY)) {
    set_ = ioctl(file_.get(), FS_IOC_GETFLAGS, &before_) == 0 && apply(before_ | flags);
  }
  ~Attributes() {
    if (set_) apply(before_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  bool set() const { return set_; }

 private:
  bool apply(int flags) { return ioctl(file_.get(), FS_IOC_SETFLAGS, &flags) == 0; }
  Descriptor file_;
  int before_ = 0;
  bool set_ = false;
};

TEST_P(OutputTest, RefusesWhatCannotBeReplaced) {
  fs::create_directory(scratch_ / "directory");
  write_file(scratch_ / "directory/out", "old");
  write_file(scratch_ / "out", "old");
  const struct {
    const char *name, *marked, *says;
    int flags;
  } cases[] = {{"out", "out", "is immutable", FS_IMMUTABLE_FL},
               {"out", "out", "is append-only", FS_APPEND_FL},
               {"directory/out", "directory", "append-only directory", FS_APPEND_FL}};
  for (const auto& c : cases) {
    const Attributes attributes(scratch_ / c.marked, c.flags);
    if (!attributes.set()) GTEST_SKIP() << "files cannot be marked here";
    EXPECT_THAT(refusal(c.name, true), HasSubstr(c.says));
  }
  make("out", true).commit();
}

TEST_P(OutputTest, RefusesWhatCannotBeAnOutput) {
  fs::create_directory(scratch_ / "directory");
  EXPECT_THAT(refusal("directory", true), HasSubstr("is a directory"));
  EXPECT_THAT(refusal("directory/", true), HasSubstr("is a directory"));
  ASSERT_EQ(mkfifo((scratch_ / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(refusal("fifo", true), HasSubstr("is a FIFO, not a regular file"));
  EXPECT_THAT(refusal("missing/out", false), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal("in/out", false), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(std::string(300, 'n'), false), HasSubstr("300 bytes, the file system allows 255"));
  EXPECT_THAT(refusal("big", false, std::uint64_t{1} << 61), HasSubstr("no room for big"));
  const File input = File::open_input(scratch_ / "in", Access::buffered);
  EXPECT_THAT(message_of<InputError>([&] { Output::check("-", 3, true, input); }), HasSubstr("pipes"));
}

TEST_P(OutputTest, TakesTheLongestName) {
  const std::string name(255, 'n');
  make(name, false).commit();
  make(name, true).commit();
  output_.reset();
  EXPECT_THAT(scratch_.names(), ElementsAre("in", name));
}

TEST_P(OutputTest, DoesNotReplaceWhatAppearedMeanwhile) {
  Output& output = make("out", false);
  write_file(scratch_ / "out", "somebody else's");
  try {
    output.commit();
    FAIL() << "replaced";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), EEXIST);
  }
  output_.reset();
  EXPECT_EQ(read_file(scratch_ / "out"), "somebody else's");
  EXPECT_THAT(scratch_.names(), ElementsAre("in", "out"));
}

TEST_P(OutputTest, AFailedReplacementLeavesNoTemporaryName) {
  write_file(scratch_ / "out", "old");
  Output& output = make("out", true);
  fs::remove(scratch_ / "out");
  fs::create_directories(scratch_ / "out/not empty");
  EXPECT_THROW(output.commit(), IoError);
  output_.reset();
  EXPECT_THAT(scratch_.names(), ElementsAre("in", "out"));
}

TEST_P(OutputTest, TemporaryNamesAreAsPromised) {
  make("out", false);
  if (GetParam() == Output::Naming::temporary) {
    ASSERT_EQ(scratch_.names().size(), 2u);
    EXPECT_THAT(scratch_.names()[0], ::testing::StartsWith(".out.xorder-" + std::to_string(getpid()) + "-"));
  } else if (scratch_.names().size() != 1) {
    GTEST_SKIP() << "no O_TMPFILE here";
  }
}

TEST_P(OutputTest, WhatKilledRunsLeaveIsFound) {
  const std::string long_name(250, 'n');  // is cut, so that the suffix finds room
  fs::create_directory(scratch_ / "elsewhere");
  fs::create_symlink("elsewhere/target", scratch_ / "link");
  for (const std::string& name : {std::string("out"), long_name, std::string("link")}) {
    make(name, false);
    std::vector<fs::path> expected;  // nameless files leave nothing
    if (!output_->temporary_path().empty()) expected.push_back(output_->temporary_path());
    EXPECT_EQ(left_over(scratch_ / name), expected) << name;
    output_.reset();
    EXPECT_THAT(left_over(scratch_ / name), ::testing::IsEmpty()) << name;
  }
  test::write_file(scratch_ / ".out.xorder-note", "of somebody else");
  EXPECT_THAT(left_over(scratch_ / "out"), ::testing::IsEmpty());
}

TEST_P(OutputTest, RefusesAFullOrReadOnlyFileSystem) {
  test::TinyFileSystem tiny(scratch_ / "tiny", "size=1m");
  if (!tiny.mounted()) GTEST_SKIP() << "mounting is not permitted";
  EXPECT_THAT(refusal("tiny/out", false, 2 << 20), HasSubstr("tiny: no room for"));
  EXPECT_TRUE(fs::is_empty(scratch_ / "tiny"));
  make("tiny/out", false, 1 << 20).commit();
  output_.reset();  // a file open for writing keeps the file system writable
  ASSERT_TRUE(tiny.seal());
  EXPECT_THAT(refusal("tiny/other", false), HasSubstr("Read-only file system"));
}

INSTANTIATE_TEST_SUITE_P(Naming, OutputTest,
                         ::testing::Values(Output::Naming::automatic, Output::Naming::temporary),
                         [](const auto& param) {
                           return param.param == Output::Naming::automatic ? "Automatic" : "Temporary";
                         });

}  // namespace
}  // namespace xorder::io
