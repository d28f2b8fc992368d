#include "io/ranges.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "io/scratch.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using test::Random;
using test::ScratchDirectory;

class RangesTest : public ::testing::TestWithParam<Access> {
 protected:
  const ScratchDirectory scratch_;
};

std::string access_name(const ::testing::TestParamInfo<Access>& info) {
  constexpr const char* names[] = {"Direct", "Buffered", "Mapped"};
  return names[static_cast<int>(info.param)];
}

/// A file of adjacent ranges of random lengths, each written by one of several threads, then read in others.
TEST_P(RangesTest, WhatIsWrittenIsRead) {
  Random random;
  SEED_TRACE(random);
  constexpr std::size_t bytes = (5u << 20) + 12345;
  std::vector<std::byte> data(bytes), back(bytes + 64);
  random.fill(data.data(), data.size());
  const File file = File::create_nameless(scratch_.path(), "ranges", bytes, GetParam());

  const auto in_ranges = [&](const auto& transfer) {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < bytes;) {
      const std::size_t part =
          std::min<std::size_t>(bytes - at, 1 + random() % (random() % 4 == 0 ? 3u << 20 : 9000));
      threads.emplace_back([&transfer, at, part] { transfer(at, part); });
      at += part;
      if (threads.size() == 4) threads.clear();
    }
  };
  in_ranges([&](std::size_t at, std::size_t part) { write_range(file, at, data.data() + at, part); });
  const std::size_t shift = random() % 64;
  in_ranges([&](std::size_t at, std::size_t part) { read_range(file, at, back.data() + shift + at, part); });
  EXPECT_TRUE(std::equal(data.begin(), data.end(), back.begin() + static_cast<std::ptrdiff_t>(shift)));
}

TEST_P(RangesTest, TheEndOfTheFileIsAnError) {
  test::write_file(scratch_ / "short", std::string(10000, 'x'));
  const File file = File::open_input(scratch_ / "short", GetParam());
  std::vector<std::byte> to(20000);
  EXPECT_NO_THROW(read_range(file, 1, to.data(), 9999));
  EXPECT_THROW(read_range(file, 0, to.data(), 10001), IoError);
  EXPECT_THROW(read_range(file, 20000, to.data(), 1), IoError);
}

INSTANTIATE_TEST_SUITE_P(Access, RangesTest,
                         ::testing::Values(Access::direct, Access::buffered, Access::mapped), access_name);

}  // namespace
}  // namespace xorder::io
