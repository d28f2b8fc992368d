// A failing disk behind every engine: each transfer and each file operation that fails ends the run with an error,
// leaves the destination as it was, and nothing beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "io/disks.hpp"
#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/band/transposition.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/pipelined.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::work {
namespace {

using Kind = io::Transfer::Kind;
using MakeWork = std::unique_ptr<Work> (*)(const io::ArrayFile& in, const std::filesystem::path& out,
                                           Options options);

constexpr std::uint64_t MiB = std::uint64_t{1} << 20;

std::unique_ptr<Work> tiles_work(const io::ArrayFile& in, const std::filesystem::path& out, Options options) {
  const ArrayShape shape = in.description.shape();
  return std::make_unique<tiles::Job>(in, transposition(shape, {}), transposed_extents(shape, {}), out,
                                      options);
}

std::unique_ptr<Work> two_passes(const io::ArrayFile& in, const std::filesystem::path& out, Options options) {
  options.device = plan::Device::hdd();
  auto work = tiles_work(in, out, options);
  EXPECT_GT(work->summary().passes.size(), 1u);
  return work;
}

template <BandOrder order>
std::unique_ptr<Work> band_work(const io::ArrayFile& in, const std::filesystem::path& out, Options options) {
  const std::uint64_t wide = 256, long_side = in.description.elements() / wide;
  const Band band{long_side, 100, 155, false, order};
  io::ArrayFile stored = in;
  stored.description.extents = band.extents();
  return std::make_unique<band::BandTransposition>(stored, band, out, options);
}

template <machine::ScheduleChoice::Kind kind>
std::unique_ptr<Work> scheduled_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                     Options options) {
  const ArrayShape shape = in.description.shape();
  return machine::scheduled(in, transposition(shape, {}), transposed_extents(shape, {}), out, options,
                            {.kind = kind});
}

std::unique_ptr<Work> scheduled_band_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                          Options options) {
  const Band band{in.description.elements() / 256, 100, 155, false, BandOrder::columns};
  io::ArrayFile stored = in;
  stored.description.extents = band.extents();
  return machine::scheduled_band(stored, band, out, options, 8);
}

std::unique_ptr<Work> descend_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                   Options options) {
  return std::make_unique<descend::DescendJob>(std::vector{in}, descend::cyclic_shift(8, 12345),
                                               in.description.dtype, in.description.extents, out, options,
                                               descend::DescendSizes{.processors = 8});
}

std::unique_ptr<Work> pipelined_work(const io::ArrayFile& in, const std::filesystem::path& out,
                                     Options options) {
  options.memory = 256 * MiB;
  return machine::pipelined_descend({in}, descend::cyclic_shift(8, 12345), in.description.dtype,
                                    in.description.extents, out, options, 8);
}

struct Engine {
  const char* name;
  MakeWork make;
  std::uint64_t elements;  // of 8 bytes
};

using enum machine::ScheduleChoice::Kind;
const Engine engines[] = {{"Tiles", tiles_work, 1 << 18},
                          {"TilesInTwoPasses", two_passes, 1 << 21},
                          {"BandColumns", band_work<BandOrder::columns>, 1 << 19},
                          {"BandDiagonals", band_work<BandOrder::diagonals>, 1 << 19},
                          {"Rounds", scheduled_work<rounds>, 1 << 19},
                          {"Exchange", scheduled_work<exchange>, 1 << 19},
                          {"Mesh", scheduled_work<mesh>, 1 << 19},
                          {"BandedSchedule", scheduled_band_work, 1 << 19},
                          {"Descend", descend_work, 1 << 19},
                          {"Pipelined", pipelined_work, 1 << 12}};

class FailingDiskTest : public testing::TestWithParam<std::tuple<Engine, EngineChoice>> {
 protected:
  void SetUp() override {
    const std::uint64_t elements = std::get<Engine>(GetParam()).elements;
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
    const Options options{.memory = 16 * MiB,
                          .threads = 2,
                          .engine = std::get<EngineChoice>(GetParam()),
                          .overwrite = true,
                          .disk = &disk};
    const io::ArrayFile in = io::open_array(directory_ / "in.raw", layout_, disk);
    std::get<Engine>(GetParam()).make(in, directory_ / "out.raw", options)->run();
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
    for (int i = 0; i < 6; ++i) {
      // Several threads make a few transfers more or less in the next run: of the last ones none may come.
      const long number =
          i == 0 ? 0 : static_cast<long>(random_.in(0, static_cast<std::uint64_t>(count * 9 / 10)));
      SCOPED_TRACE(testing::Message()
                   << (kind == Kind::read ? "read " : "write ") << number << " of " << count);
      test::write_file(directory_ / "out.raw", "what was there before");
      test::FailingDisk disk;
      disk.fail_transfer(kind, number);
      expect_failure(disk);
      EXPECT_TRUE(untouched());
    }
  }
}

TEST_P(FailingDiskTest, AFailingFileOperationIsNeverASilentLoss) {
  SEED_TRACE(random_);
  test::FailingDisk whole;
  run(whole);
  const std::string expected = test::read_file(directory_ / "out.raw");
  const long count = whole.operations();
  ASSERT_GT(count, 5);
  // All at the beginning and at the end, where files are opened, made and named, and some in between.
  const auto visited = [&](long n) { return n < 12 || n >= count - 9 || random_.in(0, 199) == 0; };
  for (long n = 0; n < count; ++n) {
    if (!visited(n)) continue;
    SCOPED_TRACE(testing::Message() << "operation " << n << " of " << count);
    test::write_file(directory_ / "out.raw", "what was there before");
    test::FailingDisk disk;
    disk.fail_operation(n);
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
    EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw", "out.raw"));
    EXPECT_EQ(test::read_file(directory_ / "in.raw"), data_);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, FailingDiskTest,
                         testing::Combine(testing::ValuesIn(engines),
                                          testing::Values(EngineChoice::direct, EngineChoice::mapped)),
                         [](const auto& tested) {
                           return std::string(std::get<Engine>(tested.param).name) +
                                  (std::get<EngineChoice>(tested.param) == EngineChoice::direct ? "Direct"
                                                                                                : "Mapped");
                         });

}  // namespace
}  // namespace xorder::work
