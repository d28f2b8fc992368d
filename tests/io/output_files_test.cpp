#include "io/output_files.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <vector>

#include "io/disks.hpp"
#include "io/output.hpp"
#include "io/scratch.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NumberedName, IsAsPrintfMakesIt) {
  EXPECT_EQ(NumberedName("out.%04d.npy").name(7), "out.0007.npy");
  EXPECT_EQ(NumberedName("out.%04d.npy").name(12345), "out.12345.npy");
  EXPECT_EQ(NumberedName("a/50%/%d").path(0), "a/50%/0");
  EXPECT_EQ(NumberedName("a/50%/%d").directory(), "a/50%");
  EXPECT_EQ(NumberedName("%00d%%.raw").name(3), "3%.raw");
  EXPECT_EQ(NumberedName("%d").directory(), ".");
}

TEST(NumberedName, HasOneNumberInTheNameOfTheFile) {
  for (const char* pattern : {"out.npy", "%d.%d", "%3d", "%x", "%", "%0", "%04", "%-4d", "%04ld",
                              "%00000004d", "%d/out.npy", "out.%%d.npy", ""}) {
    SCOPED_TRACE(pattern);
    EXPECT_THAT(test::message_of<InputError>([&] { NumberedName{pattern}; }),
                AllOf(HasSubstr(pattern), HasSubstr("one %d or %0Nd")));
  }
}

// Leaves room for so many descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    limit.rlim_cur =
        static_cast<rlim_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})) + more;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

class OutputFilesTest : public testing::Test {
 protected:
  static constexpr std::uint64_t count = 12, bytes = 10'000;

  OutputFiles make(Disk& disk) {
    return OutputFiles(directory_ / "out.%02d.raw", count, bytes, "header", Access::direct, disk, 0666,
                       [](File&) {});
  }
  static std::string body(std::uint64_t number, char turn) {
    return std::string(100, static_cast<char>('a' + number % 20)) + turn;
  }
  // In many files by turns, at both of their ends.
  static void fill(OutputFiles& files) {
    for (int turn = 0; turn < 2; ++turn) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const File* const file = files.use(i);
        ASSERT_NE(file, nullptr);
        const std::string text = body(i, turn == 0 ? 'x' : 'y');
        file->write_exactly(text.data(), text.size(), turn == 0 ? 6 : bytes - text.size());
        files.release(i);
      }
    }
  }
  void expect_whole(std::uint64_t number) const {
    const std::string content = test::read_file(directory_ / fmt::format("out.{:02}.raw", number));
    ASSERT_EQ(content.size(), bytes);
    EXPECT_TRUE(content.starts_with("header" + body(number, 'x')));
    EXPECT_TRUE(content.ends_with(body(number, 'y')));
  }
  // All of them, and nothing else.
  void expect_all() const {
    EXPECT_EQ(directory_.names().size(), count);
    for (std::uint64_t i = 0; i < count; ++i) expect_whole(i);
  }

  test::Random random_;
  test::ScratchDirectory directory_;
};

TEST_F(OutputFilesTest, AllAppearWhenAllAreWhole) {
  {
    OutputFiles files = make(system_disk());
    fill(files);
    EXPECT_EQ(directory_.names().size(), left_over(directory_ / "out.%02d.raw").size());
    files.commit();
  }
  expect_all();
}

TEST_F(OutputFilesTest, WithoutACommitNothingIsLeft) {
  for (const std::size_t descriptors : {24, 4000}) {
    const FewDescriptors few(descriptors);
    OutputFiles files = make(system_disk());
    fill(files);
  }
  EXPECT_THAT(directory_.names(), IsEmpty());
}

TEST_F(OutputFilesTest, DescriptorsAreNoLimit) {
  if (test::sanitized) GTEST_SKIP() << "sanitizers need descriptors of their own";
  {
    const FewDescriptors few(24);
    OutputFiles files = make(system_disk());
    std::vector<std::uint64_t> used;
    for (std::uint64_t i = 0; i < count && files.use(i) != nullptr; ++i) used.push_back(i);
    EXPECT_GE(used.size(), 2u);
    EXPECT_LE(used.size(), 8u);
    for (const std::uint64_t i : used) files.release(i);
    fill(files);
    EXPECT_EQ(left_over(directory_ / "out.%02d.raw").size(), count);
    files.commit();
  }
  expect_all();
}

TEST_F(OutputFilesTest, ATakenNameIsKeptAndTheOthersAreRemoved) {
  for (const std::size_t descriptors : {24, 4000}) {
    const FewDescriptors few(descriptors);
    {
      OutputFiles files = make(system_disk());
      fill(files);
      test::write_file(directory_ / "out.07.raw", "of another");
      EXPECT_THAT(test::message_of<IoError>([&] { files.commit(); }),
                  AllOf(HasSubstr("out.07.raw"), HasSubstr("someone else created it")));
    }
    EXPECT_THAT(directory_.names(), testing::ElementsAre("out.07.raw"));
    EXPECT_EQ(test::read_file(directory_ / "out.07.raw"), "of another");
    std::filesystem::remove(directory_ / "out.07.raw");
  }
}

TEST_F(OutputFilesTest, EveryFailureLeavesNothingOrSaysThatAllIsComplete) {
  SEED_TRACE(random_);
  for (const std::size_t descriptors : {24, 4000}) {
    const FewDescriptors few(descriptors);
    test::FailingDisk whole;
    {
      OutputFiles files = make(whole);
      fill(files);
      files.commit();
    }
    const auto attempt = [&](test::FailingDisk& disk) {
      for (const std::string& name : directory_.names()) std::filesystem::remove(directory_ / name);
      try {
        OutputFiles files = make(disk);
        fill(files);
        files.commit();
      } catch (const IoError& error) {
        if (std::string(error.what()).find("is complete") != std::string::npos) return expect_all();
        EXPECT_THAT(directory_.names(), IsEmpty()) << error.what();
        return;
      } catch (const InputError& error) {
        EXPECT_THAT(directory_.names(), IsEmpty()) << error.what();
        return;
      }
      expect_all();  // something else did as well
    };
    // All where they get their names, and some before.
    for (long n = 0; n < whole.operations(); ++n) {
      const int one_in = n >= whole.operations() - 20 ? 1 : 6;
      if (random_.in(1, test::sanitized ? 3 * one_in : one_in) != 1) continue;
      SCOPED_TRACE(testing::Message() << "operation " << n << " of " << whole.operations());
      test::FailingDisk disk;
      disk.fail_operation(n);
      attempt(disk);
      EXPECT_TRUE(disk.failed());
    }
    test::FailingDisk disk;
    disk.fail_transfer(Transfer::Kind::write, 20);
    attempt(disk);
    EXPECT_TRUE(disk.failed());
    EXPECT_THAT(directory_.names(), IsEmpty());
  }
}

// Dies before the N-th file gets its name.
class Deadly final : public DiskFilter {
 public:
  explicit Deadly(int number) : DiskFilter(system_disk()), number_(number) {}
  using DiskFilter::before;
  int before(Operation operation) override {
    if ((operation == Operation::link || operation == Operation::rename) && number_-- == 0) raise(SIGKILL);
    return 0;
  }

 private:
  int number_;
};

TEST_F(OutputFilesTest, TheNextRunIsToldWhatAKilledOneHasLeft) {
  for (const std::size_t descriptors : {24, 4000}) {
    for (const int named : {0, 1, 5}) {
      const pid_t child = fork();
      if (child == 0) {
        const FewDescriptors few(descriptors);
        Deadly disk(named);
        OutputFiles files = make(disk);
        fill(files);
        files.commit();
        _exit(1);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      for (int i = 0; i < named; ++i) expect_whole(static_cast<std::uint64_t>(i));
      const auto left = left_over(directory_ / "out.%02d.raw");
      EXPECT_EQ(left.size() + static_cast<std::size_t>(named), directory_.names().size());
      if (descriptors == 24) {
        EXPECT_EQ(left.size() + static_cast<std::size_t>(named), count);
      }
      const auto check = [&] {
        OutputFiles::check(directory_ / "out.%02d.raw", count, bytes, system_disk());
      };
      if (named == 0) check();
      if (named == 1) {
        EXPECT_THAT(test::message_of<InputError>(check), HasSubstr("out.00.raw exists, of the 12"));
      }
      if (named == 5) {
        EXPECT_THAT(test::message_of<InputError>(check),
                    HasSubstr("out.00.raw and 4 more files up to out.04.raw exist, of the 12"));
      }
      for (const std::string& name : directory_.names()) std::filesystem::remove(directory_ / name);
    }
  }
}

}  // namespace
}  // namespace xorder::io
