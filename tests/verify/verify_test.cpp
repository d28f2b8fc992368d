#include "xorder/verify/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>

#include "byte_units.hpp"
#include "io/disks.hpp"
#include "io/format/on_disk.hpp"
#include "io/scratch.hpp"
#include "long_form.hpp"
#include "plan/plan.hpp"
#include "plan/reference.hpp"
#include "xorder/error.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::verify {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Changes a byte of what one of the writes writes.
class LyingDisk final : public io::DiskFilter {
 public:
  explicit LyingDisk(long number) : DiskFilter(io::system_disk()), number_(number) {}
  long writes() const { return writes_; }
  std::uint64_t offset() const { return offset_; }

 private:
  using DiskFilter::before;
  int before(const io::Transfer& transfer) override {
    if (transfer.kind != io::Transfer::Kind::write || writes_++ != number_) return 0;
    offset_ = transfer.offset;
    transfer.pieces[0].data[0] ^= std::byte{0x10};
    return 0;
  }
  long number_;
  std::atomic<long> writes_ = 0;
  std::atomic<std::uint64_t> offset_ = 0;
};

class VerifyTest : public testing::Test {
 protected:
  io::ArrayFile file(const std::string& name, const std::vector<std::byte>& data, std::uint64_t element_bytes,
                     std::vector<std::uint64_t> extents, std::uint64_t offset = 0) {
    std::string content(offset, 'x');
    content.append(reinterpret_cast<const char*>(data.data()), data.size());
    test::write_file(directory_ / name, content);
    return io::open_raw_array(directory_ / name, {io::parse_dtype("V" + std::to_string(element_bytes)),
                                                  std::move(extents), offset});
  }

  test::ScratchDirectory directory_;
  test::Random random_;
};

TEST_F(VerifyTest, FilesOfSeveralUnitsAndAnyOffset) {
  SEED_TRACE(random_);
  for (const std::uint64_t element : {1, 3, 8, 24}) {
    const std::uint64_t rows = 1001, columns = 5 * MiB / element / rows;
    const Reordering what = transposition({{rows, columns}, element, Order::c}, {});
    const auto data = test::random_bytes(random_, what.bytes());
    auto result = test::performed(what, data);
    const std::uint64_t offset = random_.in(std::uint64_t{0}, std::uint64_t{9000});
    const auto in = file("in.raw", data, element, {rows, columns}, random_.in(0, 9000));
    const Options options{.memory = 16 * MiB};
    EXPECT_THAT(compare({in}, what, file("out.raw", result, element, {columns, rows}, offset), options),
                testing::IsEmpty());
    const std::size_t at = random_.in(std::size_t{0}, result.size() - 1);
    result[at] ^= std::byte{1};
    const auto found =
        compare({in}, what, file("out.raw", result, element, {columns, rows}, offset), options);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_LE(found[0].first_byte, offset + at);
    EXPECT_GT(found[0].end_byte, offset + at);
    EXPECT_LE(found[0].end_byte - found[0].first_byte, 4096u);
    EXPECT_LE(found[0].first_element, at / element);
    EXPECT_GT(found[0].end_element, at / element);
    EXPECT_THAT(text("out.raw", found), HasSubstr(std::to_string(found[0].first_byte) + " to "));
  }
}

TEST_F(VerifyTest, RefusesWhatDoesNotFit) {
  const auto in = file("in.raw", std::vector<std::byte>(24), 2, {3, 4});
  const auto out = file("out.raw", std::vector<std::byte>(24), 2, {4, 3});
  const Reordering what = transposition(in.description.shape(), {});
  EXPECT_TRUE(compare({in}, what, out).empty());
  EXPECT_THROW(compare({}, what, out), InputError);
  EXPECT_THROW(compare({in, in}, what, out), InputError);
  EXPECT_THROW(compare({in}, what, file("o.raw", std::vector<std::byte>(22), 2, {11})), InputError);
  EXPECT_THROW(compare({in}, what, out, {.memory = MiB}), InputError);
}

TEST_F(VerifyTest, FilesThatCannotBeReadOrChangeAreNotCalledEqual) {
  const std::vector<std::byte> data(3 * MiB);
  const Reordering what = transposition({{3, 1 << 20}, 1, Order::c}, {});
  const auto in = file("in.raw", data, 1, {3, 1 << 20}), out = file("out.raw", data, 1, {1 << 20, 3});
  test::FailingDisk whole;
  EXPECT_TRUE(compare({io::on_disk(in, whole)}, what, out).empty());
  ASSERT_GT(whole.reads(), 4);
  for (long n = 0; n < 5; ++n) {
    test::FailingDisk disk;
    disk.fail_transfer(io::Transfer::Kind::read, n);
    EXPECT_THROW(compare({io::on_disk(in, disk)}, what, out), IoError);
  }
  const auto touch = [&](const work::Progress&) { test::write_file(directory_ / "out.raw", "changed"); };
  EXPECT_THAT([&] { compare({in}, what, out, {}, touch); },
              ThrowsMessage<IoError>(HasSubstr("out.raw: the file was changed")));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(compare({in}, what, in, {}, {}, stop.get_token()), Cancelled);
}

// What did not reach the disk as it should is found before the output has a name, whichever write it was.
TEST_F(VerifyTest, ARunFindsWhatWasWrittenWrongly) {
  SEED_TRACE(random_);
  for (const auto access : {work::AccessChoice::direct, work::AccessChoice::mapped}) {
    for (const bool slow : {false, true}) {  // in several passes
      const std::uint64_t rows = slow ? 1 << 11 : 1 << 9, columns = 1 << 11;
      const auto data = test::random_bytes(random_, rows * columns * 4);
      const auto in = file("in.raw", data, 4, {rows, columns});
      const Reordering what = transposition({{rows, columns}, 4, Order::c}, {});
      work::Options options{.memory = 16 * MiB, .access = access};
      if (slow) options.device = plan::Device::parse(R"({"points": [[1048576, 1e6, 1e6]]})", "test");
      const auto run = [&](LyingDisk& disk) {
        Job job(std::vector{io::on_disk(in, disk)}, what, {columns, rows}, directory_ / "out.raw", options);
        EXPECT_EQ(job.plan().passes.size() > 1, slow);
        job.verify_output();
        std::uint64_t last = 0;
        const auto check = [&](const work::Progress& p) {
          EXPECT_LE(last, p.bytes_done);
          EXPECT_LE(p.bytes_done, p.bytes_total);
          last = p.bytes_done;
        };
        EXPECT_GE(job.run(check).bytes_read, 2 * data.size());
      };
      LyingDisk honest(-1);
      run(honest);
      EXPECT_TRUE(
          test::read_file(directory_ / "out.raw") ==
          std::string(reinterpret_cast<const char*>(test::performed(what, data).data()), data.size()));
      const int rounds = test::rounds(2, 60);
      for (int i = 0; i < rounds; ++i) {
        test::fs::remove(directory_ / "out.raw");
        LyingDisk disk(random_.in(0L, honest.writes() * 9 / 10));
        const std::string line = test::message_of<IoError>([&] { run(disk); });
        EXPECT_THAT(line, HasSubstr("are not those of the result; the output was discarded"));
        EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw"));
      }
      test::tally(rounds, "flipped bits on the way to the disk, found by --verify");
      test::fs::remove(directory_ / "out.raw");
    }
  }
}

}  // namespace
}  // namespace xorder::verify
