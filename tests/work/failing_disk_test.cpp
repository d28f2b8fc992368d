// A failing disk behind every engine: each transfer and each file operation that fails ends the run with an
// error, leaves the destination as it was, and nothing beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "byte_units.hpp"
#include "io/disks.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "long_form.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "work/engines.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

using Kind = io::Transfer::Kind;

class FailingDiskTest : public testing::TestWithParam<std::tuple<test::Engine, AccessChoice>> {
 protected:
  void SetUp() override {
    const std::uint64_t elements = std::get<test::Engine>(GetParam()).elements;
    data_.resize(elements * 8);
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::uint64_t value = random_();
      std::memcpy(data_.data() + i * 8, &value, 8);
    }
    test::write_file(directory_ / "in.raw", data_);
    test::write_file(directory_ / "out.raw", "what was there before");
    layout_.dtype = io::parse_dtype("f8");
    layout_.extents = {elements >> 10, 1024};
  }

  // Runs it all, from looking at the input on.
  void run(test::FailingDisk& disk) {
    const auto& [engine, access] = GetParam();
    const io::ArrayFile in = io::open_array(directory_ / "in.raw", layout_, disk);
    engine.make(in, directory_ / "out.raw", engine.options(access))->run();
  }

  void expect_failure(test::FailingDisk& disk, bool may_be_complete = false) {
    try {
      run(disk);
      // Where something else does as well, nothing needs to fail.
      EXPECT_FALSE(disk.failed() && !may_be_complete) << "it failed in silence";
      return;
    } catch (const InputError&) {
    } catch (const IoError&) {
    }
    EXPECT_TRUE(disk.failed());
    EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw", "out.raw"));
    EXPECT_EQ(test::read_file(directory_ / "in.raw"), data_);
  }

  // Some error, once or for ever. Returns whether for ever.
  bool any_error(test::FailingDisk& disk) {
    constexpr int errors[] = {EIO, ENOSPC, EINTR, EAGAIN, ENOMEM, EDQUOT};
    const bool for_ever = random_.in(0, 1) == 1;
    disk.fail_with(errors[random_.in(0, 5)], for_ever);
    return for_ever;
  }

  // Of large files and with sanitizers, fewer runs.
  bool slow() const { return test::sanitized || data_.size() > 8 * MiB; }
  bool untouched() const { return test::read_file(directory_ / "out.raw") == "what was there before"; }

  test::Random random_;
  test::ScratchDirectory directory_;
  io::RawLayout layout_;
  std::string data_;
};

TEST_P(FailingDiskTest, AFailingTransferEndsTheRun) {
  SEED_TRACE(random_);
  test::FailingDisk whole;
  run(whole);
  const std::string expected = test::read_file(directory_ / "out.raw");
  ASSERT_EQ(expected.size(), data_.size());
  for (const Kind kind : {Kind::read, Kind::write}) {
    const long count = kind == Kind::read ? whole.reads() : whole.writes();
    ASSERT_GT(count, 0);
    const int rounds = test::rounds(slow() ? 2 : 3, slow() ? 5 : 15);
    for (int i = 0; i < rounds; ++i) {
      // Several threads make a few transfers more or less in the next run: of the last ones none may come.
      const long number =
          i == 0 ? 0 : static_cast<long>(random_.in(0, static_cast<std::uint64_t>(count * 9 / 10)));
      SCOPED_TRACE(testing::Message()
                   << (kind == Kind::read ? "read " : "write ") << number << " of " << count);
      test::write_file(directory_ / "out.raw", "what was there before");
      test::FailingDisk disk;
      disk.fail_transfer(kind, number);
      any_error(disk);
      expect_failure(disk);
      EXPECT_TRUE(untouched());
    }
    test::tally(rounds, "failing reads and writes, once or for ever, for each engine");
  }
}

TEST_P(FailingDiskTest, AFailingFileOperationIsNeverASilentLoss) {
  SEED_TRACE(random_);
  test::FailingDisk whole;
  run(whole);
  const std::string expected = test::read_file(directory_ / "out.raw");
  const long count = whole.operations();
  ASSERT_GT(count, 5);
  // Most at the beginning and at the end, where files are opened, made and named, and some in between. For each
  // engine a third of those, or a sixth of all if that is slow; in the long form all of those.
  const auto visited = [&](long n) {
    const bool at_an_end = n < 12 || n >= count - 9;
    const int one_in = at_an_end ? 1 : test::rounds(200, 50);
    const int fewer = test::long_form() != 0 ? 1 : slow() ? 6 : at_an_end ? 3 : 1;
    return random_.in(1, one_in * fewer) == 1;
  };
  long visits = 0;
  for (long n = 0; n < count; ++n) {
    if (!visited(n)) continue;
    SCOPED_TRACE(testing::Message() << "operation " << n << " of " << count);
    test::write_file(directory_ / "out.raw", "what was there before");
    test::FailingDisk disk;
    disk.fail_operation(n);
    const bool for_ever = any_error(disk);  // then old names cannot be removed either
    ++visits;
    bool completed = false;
    try {
      run(disk);
      completed = true;
    } catch (const InputError&) {
    } catch (const IoError&) {
    }
    const std::string left = test::read_file(directory_ / "out.raw");
    // What is there is the old file or the new one, whole; and the new one if the run says so.
    if (completed) {
      EXPECT_TRUE(left == expected);
    } else {
      EXPECT_TRUE(left == "what was there before" || left == expected);
    }
    for (const std::string& name : directory_.names()) {
      if (name == "in.raw" || name == "out.raw") continue;
      EXPECT_TRUE(for_ever) << name;
      test::fs::remove(directory_ / name);
    }
    EXPECT_EQ(test::read_file(directory_ / "in.raw"), data_);
  }
  test::tally(visits,
              "failing file operations (open, fallocate, mmap, msync, fsync, rename, ..), for each engine");
}

// All space is reserved before data move: none of them has moved if there is no room for the output or for
// one of the scratch files.
TEST_P(FailingDiskTest, AFailingReservationComesBeforeAnyTransfer) {
  test::FailingDisk whole, looking;
  run(whole);
  io::open_array(directory_ / "in.raw", layout_, looking);  // reads the beginning of the file
  ASSERT_GE(whole.reservations(), 1);
  for (long n = 0; n < whole.reservations(); ++n) {
    SCOPED_TRACE(testing::Message() << "reservation " << n << " of " << whole.reservations());
    test::write_file(directory_ / "out.raw", "what was there before");
    test::FailingDisk disk;
    disk.fail_reservation(n);
    expect_failure(disk);
    EXPECT_EQ(disk.reads(), looking.reads());
    EXPECT_EQ(disk.writes(), 0);
    EXPECT_TRUE(untouched());
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, FailingDiskTest,
                         testing::Combine(testing::ValuesIn(test::engines),
                                          testing::Values(AccessChoice::direct, AccessChoice::mapped)),
                         test::name_of_engine);

INSTANTIATE_TEST_SUITE_P(Resumable, FailingDiskTest,
                         testing::Combine(testing::Values(test::resumable_engines().front()),
                                          testing::Values(AccessChoice::direct, AccessChoice::mapped)),
                         test::name_of_engine);

}  // namespace
}  // namespace xorder::work
