// The power fails while a new file is made, at each sync and at other moments: the destination is absent, as it was, or
// exact; and a run that can go on ends exactly. Files in place: tests/tiles/in_place_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "byte_units.hpp"
#include "io/format/on_disk.hpp"
#include "io/power.hpp"
#include "long_form.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "work/engines.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

class PowerLossTest : public testing::TestWithParam<std::tuple<test::Engine, AccessChoice>> {
 protected:
  void SetUp() override {
    const std::uint64_t elements = std::get<test::Engine>(GetParam()).elements;
    data_.resize(elements * 8);
    random_.fill(data_.data(), data_.size());
    test::write_file(in_, data_);
    layout_.dtype = io::parse_dtype("f8");
    layout_.extents = {elements >> 10, 1024};
  }
  // Whether it came to its end.
  bool run(io::Disk& disk) {
    try {
      const auto& [engine, access] = GetParam();
      Options options = engine.options(access);
      // So slow that a pass has many parts.
      if (engine.resumable) options.device = plan::Device::parse(R"({"points": [[4096, 2e4, 2e4]]})", "slow");
      engine.make(io::open_array(in_, layout_, disk), out_, options)->run();
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  static constexpr long never = 1L << 40;
  test::Random random_;
  test::ScratchDirectory directory_{test::memory()};
  const test::fs::path in_ = directory_ / "in.raw", out_ = directory_ / "out.raw";
  io::RawLayout layout_;
  std::string data_;
};

TEST_P(PowerLossTest, TheOutputIsAbsentOldOrExact) {
  SEED_TRACE(random_);
  std::vector<long> moments;
  {
    test::UnsyncedWrites files;
    test::CutOff disk(files, never);
    ASSERT_TRUE(run(disk));
    for (const long left : disk.syncs()) moments.insert(moments.end(), {never - left, never - left + 1});
    for (int i = test::rounds(2, 12); i > 0; --i) moments.push_back(random_.in(0L, never - disk.left()));
  }
  const std::string exact = test::read_file(out_), old = "what was there before";
  const bool goes_on = std::get<test::Engine>(GetParam()).resumable;
  if (test::long_form() == 0) {
    const bool few = test::sanitized || goes_on || data_.size() > 8 * MiB;
    std::ranges::shuffle(moments, random_);
    moments.resize(std::min<std::size_t>(moments.size(), few ? 1 : 4));
  }
  for (const long moment : moments) {
    SCOPED_TRACE(testing::Message() << "after " << moment << " operations");
    const bool was_there = random_.in(0, 1) == 1;
    test::fs::remove(out_);
    if (was_there) test::write_file(out_, old);
    for (int cuts = goes_on ? 3 : 1; cuts > 0; --cuts) {
      test::UnsyncedWrites files;
      test::CutOff disk(files, moment);
      const bool ended = run(disk);
      files.forget(random_());
      const std::string now = test::read_file(out_);
      if (test::fs::exists(out_))
        EXPECT_TRUE(now == exact || (was_there && !ended && now == old));
      else
        EXPECT_FALSE(was_there || ended);
      if (ended) break;
    }
    if (!goes_on) continue;
    EXPECT_TRUE(run(io::system_disk()) || test::read_file(out_) == exact);
    EXPECT_TRUE(test::read_file(out_) == exact);
    EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw", "out.raw"));
  }
  test::tally(static_cast<long>(moments.size()),
              "power cuts, at each sync and at random moments, for each engine");
}

INSTANTIATE_TEST_SUITE_P(Engines, PowerLossTest,
                         testing::Combine(testing::ValuesIn(test::engines),
                                          testing::Values(AccessChoice::direct, AccessChoice::mapped)),
                         test::name_of_engine);

INSTANTIATE_TEST_SUITE_P(Resumable, PowerLossTest,
                         testing::Combine(testing::ValuesIn(test::resumable_engines()),
                                          testing::Values(AccessChoice::direct)),
                         test::name_of_engine);

}  // namespace
}  // namespace xorder::work
