#include "io/carry.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "rounding.hpp"
#include "seed.hpp"
#include "work/meter.hpp"

namespace xorder::io {
namespace {

File scratch(std::uint64_t bytes, Disk& disk) {
  return File::create_nameless(testing::TempDir(), "scratch", bytes, Access::buffered, disk);
}

// Parts of [begin, end) in any order, however small, end up in the file once each: as whole blocks that the
// carry completes, or written by it where the memory is too small or the block has bytes that are not ours.
void expect_all_arrive(test::Random& random, std::uint64_t begin, std::uint64_t end, std::uint64_t memory,
                       std::uint64_t block_bytes, bool exceeds) {
  work::Meter meter(system_disk());
  const File file = scratch(end, meter);
  std::vector<std::byte> data(end);
  random.fill(data.data(), data.size());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t limit = std::min(end, (at / block_bytes + 1) * block_bytes);
    const std::uint64_t to = random.in(at + 1, limit);
    parts.emplace_back(at, to);
    at = to;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  Carry carry(begin, end, block_bytes, memory);
  std::uint64_t whole_blocks = 0, most_waiting = 0;
  std::vector<std::byte> buffer(block_bytes);
  for (const auto& [from, to] : parts) {
    const std::uint64_t start = from / block_bytes * block_bytes;
    std::fill(buffer.begin(), buffer.end(), std::byte{0});
    std::copy(data.begin() + static_cast<std::ptrdiff_t>(from),
              data.begin() + static_cast<std::ptrdiff_t>(to),
              buffer.begin() + static_cast<std::ptrdiff_t>(from - start));
    const bool whole = carry.add(file, from, to, buffer.data());
    most_waiting = std::max<std::uint64_t>(most_waiting, carry.waiting());
    if (!whole) continue;
    file.write_exactly(buffer.data(), block_bytes, start);
    ++whole_blocks;
  }
  EXPECT_EQ(carry.waiting(), 0u);
  const std::uint64_t blocks = (end - 1) / block_bytes - begin / block_bytes + 1;
  const std::uint64_t most = round_up(std::max<std::uint64_t>(1, memory / block_bytes), 64);
  EXPECT_LE(most_waiting, most);
  EXPECT_EQ(most_waiting == most, exceeds);
  if (exceeds) {
    EXPECT_GT(meter.count().writes, blocks);
  }
  const work::Meter::Count written = meter.count();
  EXPECT_EQ(written.bytes_written, end - begin);
  EXPECT_EQ(written.writes == whole_blocks, written.bytes_written == whole_blocks * block_bytes);
  std::vector<std::byte> result(end - begin);
  file.read_exactly(result.data(), result.size(), begin);
  EXPECT_TRUE(std::equal(result.begin(), result.end(), data.begin() + static_cast<std::ptrdiff_t>(begin)));
}

TEST(Carry, PartsBecomeBlocks) {
  test::Random random;
  SEED_TRACE(random);
  expect_all_arrive(random, 0, 100 * 4096, 1 << 20, 4096, false);
  expect_all_arrive(random, 4096, 50 * 4096 + 17, 1 << 20, 4096, false);
  expect_all_arrive(random, 128, 10 * 4096 + 1, 1 << 20, 4096, false);
  expect_all_arrive(random, 128, 200, 1 << 20, 4096, false);
}

TEST(Carry, WhatExceedsTheMemoryIsWrittenInParts) {
  test::Random random;
  SEED_TRACE(random);
  expect_all_arrive(random, 100, 1000 * 4096 + 5, 0, 4096, true);
  // Stretches of two and of ten blocks: 32 blocks of 8 bytes have 2048 bits.
  expect_all_arrive(random, 100, 8 * 4000, 0, 8, true);
  expect_all_arrive(random, 1003, 8 * 20'000 + 5, 1000, 8, true);
}

}  // namespace
}  // namespace xorder::io
