#include "xorder/plan/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Device, TimePerRequestIsLinearBetweenPointsAndBandwidthHoldsBeyond) {
  const Device d = Device::parse(R"({"points": [[1000, 1e6, 5e5], [3000, 1.5e6, 1e6]]})", "test");
  EXPECT_DOUBLE_EQ(d.read_seconds(1, 500), 1e-3);  // no less than the smallest request
  EXPECT_DOUBLE_EQ(d.read_seconds(1, 1000), 1e-3);
  EXPECT_DOUBLE_EQ(d.read_seconds(2, 2000), 3e-3);  // halfway between 1 ms and 2 ms, twice
  EXPECT_DOUBLE_EQ(d.read_seconds(1, 6000), 4e-3);
  EXPECT_DOUBLE_EQ(d.write_seconds(1, 1000), 2e-3);
}

TEST(Device, LargerRequestsNeverCostMoreInAll) {
  for (const Device& d : {Device::ssd(), Device::hdd(), Device::page_cache()}) {
    for (std::uint64_t bytes = 4096; bytes < (1 << 26); bytes *= 2) {
      EXPECT_GE(d.read_seconds(2, bytes), d.read_seconds(1, 2 * bytes) * 0.999) << d.name << " " << bytes;
    }
  }
}

// Of a disk that reads 1 GB/s and writes 500 MB/s, and 400 MB/s of each while both go on: 1 GB each way 3 s
// or 2.5 s.
TEST(Device, ReadsAndWritesAtOnceTakeWhatWasMeasuredOrTheSum) {
  const Device known = Device::parse(R"({"points": [[1000, 1e9, 5e8, 4e8], [2000, 1e9, 5e8, 4e8]]})", "test");
  const Requests million{1'000'000, 1000};
  EXPECT_NEAR(known.both_seconds(million, million), 2.5, 1e-9);
  EXPECT_NEAR(known.both_seconds({500'000, 2000}, million), 2.5, 1e-9);
  EXPECT_NEAR(known.both_seconds(million, {0, 1000}), 1, 1e-9);  // no less than one of them takes alone
  const Device unknown = Device::parse(R"({"points": [[1000, 1e9, 5e8]]})", "test");
  EXPECT_NEAR(unknown.both_seconds(million, million), 3, 1e-9);
}

TEST(Device, NonsenseProfilesAreRefused) {
  const auto parse = [](const char* text) { return [text] { Device::parse(text, "dev.json"); }; };
  EXPECT_THAT(parse("nonsense"), ThrowsMessage<InputError>(HasSubstr("dev.json: not a device profile")));
  EXPECT_THAT(parse(R"({"points": []})"), ThrowsMessage<InputError>(HasSubstr("not a device profile")));
  EXPECT_THAT(parse(R"({"points": [[1, 2]]})"), ThrowsMessage<InputError>(HasSubstr("a point must be")));
  EXPECT_THAT(parse(R"({"points": [[1, 2, 0]]})"), ThrowsMessage<InputError>(HasSubstr("at least 1")));
  EXPECT_THAT(parse(R"({"points": [[2, 2, 2], [1, 2, 2]]})"),
              ThrowsMessage<InputError>(HasSubstr("ascending")));
  EXPECT_THAT(parse(R"({"depth": 0, "points": [[1, 2, 2]]})"), ThrowsMessage<InputError>(HasSubstr("depth")));
  EXPECT_THAT(parse(R"({"dept": 8, "points": [[1, 2, 2]]})"),
              ThrowsMessage<InputError>(HasSubstr("unknown key \"dept\"")));
}

TEST(Device, ReadingFromAnotherOnePricesEachSideByItsOwn) {
  for (const Device& target : {Device::ssd(), Device::hdd()}) {
    const Device source = Device::page_cache(), both = target.reading_from(source);
    EXPECT_EQ(both.depth, target.depth);
    EXPECT_EQ(both.largest_useful_request(), target.largest_useful_request());
    for (std::uint64_t bytes = 1024; bytes <= 32 << 20; bytes = bytes * 3 / 2) {
      EXPECT_NEAR(both.read_seconds(7, bytes) / source.read_seconds(7, bytes), 1, 1e-9) << bytes;
      EXPECT_NEAR(both.write_seconds(7, bytes) / target.write_seconds(7, bytes), 1, 1e-9) << bytes;
    }
  }
}

}  // namespace
}  // namespace xorder::plan
