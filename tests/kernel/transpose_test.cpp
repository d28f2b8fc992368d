#include "kernel/vectors/transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernel/instruction_sets.hpp"
#include "plan/reference.hpp"

namespace xorder::kernel {
namespace {

using test::random_bytes;
using test::with_every_instruction_set;

// A target with a guard before, behind and between its rows.
struct Target {
  static constexpr std::byte guard{0xA5};
  Target(std::size_t rows, std::size_t row_bytes, std::size_t gap, std::size_t before)
      : begin(64 + before), pitch(row_bytes + gap), bytes(begin + rows * pitch + 64, guard) {}
  std::byte* data() { return bytes.data() + begin; }
  std::size_t begin, pitch;
  std::vector<std::byte> bytes;
};

TEST(Transpose, PutsEveryElementInItsPlaceAndTouchesNothingElse) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    for (int i = 0; i < 400; ++i) {
      SCOPED_TRACE(i);
      const std::size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 100};
      const std::size_t w = sizes[random.in(std::size_t{0}, std::size_t{11})];
      const std::size_t most = random.in(0, 1) == 0 ? 20 : 150;
      const std::size_t count = random.in(std::size_t{1}, most),
                        columns = random.in(std::size_t{1}, 170 - most);
      const auto source = random_bytes(random, count * columns * w);
      std::vector<std::size_t> places(count);  // of the rows: in any order, with nothing to spare
      std::iota(places.begin(), places.end(), 0);
      if (random.in(0, 1) == 0) std::ranges::shuffle(places, random);
      std::vector<const std::byte*> rows;
      for (const std::size_t place : places) rows.push_back(source.data() + place * columns * w);
      Target target(columns, count * w, random.in(0, 1) == 0 ? 0 : random.in(std::size_t{1}, std::size_t{70}),
                    random.in(std::size_t{0}, std::size_t{63}));
      Target expected = target;
      for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t c = 0; c < columns; ++c)
          std::memcpy(expected.data() + c * expected.pitch + r * w, rows[r] + c * w, w);
      }
      const std::uint64_t stride = random.in(0, 1) == 0 ? 0 : 4096;  // chooses another kernel
      transpose_function(w, stride)(rows.data(), count, columns, target.data(), target.pitch, w,
                                    random.in(0, 1) == 0);
      ASSERT_TRUE(target.bytes == expected.bytes) << count << " x " << columns << " of " << w;
    }
  });
}

// What is written behind a column belongs to the next one, or is at most a line.
TEST(Transpose, WritesAhead) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    int found = 0;
    for (int i = 0; i < 400; ++i) {
      SCOPED_TRACE(i);
      const std::size_t w = std::size_t{1} << random.in(0, 4);
      const std::size_t count = random.in(std::size_t{1}, 70 / w + 1),
                        columns = random.in(std::size_t{1}, std::size_t{150});
      const TransposeFunction ahead = transpose_ahead_function(w, count, columns);
      if (ahead == nullptr) continue;
      ++found;
      const auto source = random_bytes(random, count * columns * w);
      std::vector<const std::byte*> rows;
      for (std::size_t r = 0; r < 64 / w; ++r)
        rows.push_back(source.data() + std::min(r, count - 1) * columns * w);
      Target target(columns, count * w, 0, random.in(std::size_t{0}, std::size_t{63}));
      target.bytes.resize(target.bytes.size() + 64, Target::guard);
      Target expected = target;
      for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t c = 0; c < columns; ++c)
          std::memcpy(expected.data() + c * expected.pitch + r * w, rows[r] + c * w, w);
      }
      ahead(rows.data(), count, columns, target.data(), target.pitch, w, false);
      std::fill_n(target.data() + columns * target.pitch, 64, Target::guard);
      ASSERT_TRUE(target.bytes == expected.bytes) << count << " x " << columns << " of " << w;
    }
    if (transpose_ahead_function(2, 9, 64) != nullptr) {
      EXPECT_GT(found, 15);
    }
  });
}

TEST(Transpose, SplitsNarrowRows) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    for (int i = 0; i < 400; ++i) {
      SCOPED_TRACE(i);
      const std::size_t w = std::size_t{1} << random.in(0, 4);
      const std::size_t columns = random.in(std::size_t{2}, std::size_t{16}),
                        count = random.in(std::size_t{1}, std::size_t{300});
      const SplitFunction split = split_function(w, columns);
      if (split == nullptr) continue;
      const auto source = random_bytes(random, count * columns * w);
      Target target(columns, count * w, random.in(std::size_t{0}, std::size_t{70}),
                    random.in(std::size_t{0}, std::size_t{63}));
      Target expected = target;
      for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t c = 0; c < columns; ++c)
          std::memcpy(expected.data() + c * expected.pitch + r * w, source.data() + (r * columns + c) * w, w);
      }
      split(source.data(), count, columns, target.data(), target.pitch);
      ASSERT_TRUE(target.bytes == expected.bytes) << count << " x " << columns << " of " << w;
    }
  });
}

}  // namespace
}  // namespace xorder::kernel
