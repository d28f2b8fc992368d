#include "verify/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "long_form.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"

namespace xorder::verify {
namespace {

using test::Random;
using Bytes = std::vector<std::byte>;

// Takes both arrays in parts of any size, in any order.
std::vector<Stretch> compared(Random& random, const Reordering& what, const Bytes& source,
                              const Bytes& target) {
  Comparison comparison(what);
  EXPECT_EQ(comparison.bytes(), source.size());
  struct Part {
    bool source;
    std::uint64_t at, bytes;
  };
  std::vector<Part> parts;
  for (const bool of_source : {true, false}) {
    for (std::uint64_t at = 0; at < source.size();) {
      const std::uint64_t bytes = std::min(random.in(std::uint64_t{1}, source.size()), source.size() - at);
      parts.push_back({of_source, at, bytes});
      at += bytes;
    }
  }
  std::ranges::shuffle(parts, random);
  for (const auto& [of_source, at, bytes] : parts)
    of_source ? comparison.subtract_source(at, source.data() + at, bytes)
              : comparison.add_target(at, target.data() + at, bytes);
  return comparison.differences();
}

// What arrays hold: noise, nothing, few values, or numbers that count up.
Bytes some_data(Random& random, const Reordering& what) {
  Bytes data = test::random_bytes(random, what.bytes());
  const int kind = random.in(0, 3);
  for (std::size_t i = 0; i < data.size() && kind > 0; ++i) {
    const std::uint64_t element = i / what.element_bytes, byte = i % what.element_bytes;
    data[i] = kind == 1   ? std::byte{0}
              : kind == 2 ? data[i] & std::byte{1}
                          : static_cast<std::byte>(byte < 8 ? element >> 8 * byte : 0);
  }
  return data;
}

TEST(ComparisonTest, OfEqualArraysNothingIsLeft) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < test::rounds(300); ++i) {
    Reordering what = test::random_reordering(random, 4);
    if (i < 72) what.element_bytes = static_cast<std::uint64_t>(i) / 3 + 1;
    const Bytes source = some_data(random, what);
    ASSERT_TRUE(compared(random, what, source, test::performed(what, source)).empty()) << i;
  }
}

TEST(ComparisonTest, ShortRowsAndLongElements) {
  Random random;
  SEED_TRACE(random);
  const auto check = [&](const ArrayShape& shape, std::vector<int> axes) {
    const Reordering what = transposition(shape, axes);
    const Bytes source = test::random_bytes(random, what.bytes());
    EXPECT_TRUE(compared(random, what, source, test::performed(what, source)).empty());
  };
  for (const std::uint64_t element : {1, 2, 3, 5, 8, 12, 24, 63, 64, 65, 72, 1001}) {
    check({{700, 3}, element, Order::c}, {1, 0});
    check({{3, 700}, element, Order::c}, {1, 0});
    check({{5, 140, 3}, element, Order::c}, {2, 0, 1});
    check({{5, 140, 3}, element, Order::c}, {2, 1, 0});
    check({{7, 2, 9, 11}, element, Order::c}, {3, 1, 2, 0});
    check({{2100}, element, Order::c}, {0});
  }
  check({{}, 8, Order::c}, {});
  check({{0, 7}, 8, Order::c}, {1, 0});
  check({{300, 1, 7}, 3, Order::fortran}, {1, 2, 0});
}

TEST(ComparisonTest, ManyThreadsTakeParts) {
  Random random;
  SEED_TRACE(random);
  const Reordering what = test::flat(test::random_map(random, 17), 4);
  const Bytes source = test::random_bytes(random, what.bytes()), target = test::performed(what, source);
  Comparison comparison(what);
  std::vector<std::thread> threads;
  constexpr std::uint64_t count = 8;
  for (std::uint64_t t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      const std::uint64_t part = source.size() / 64;
      for (std::uint64_t at = t * part; at < source.size(); at += count * part) {
        comparison.subtract_source(at, source.data() + at, part);
        comparison.add_target(at, target.data() + at, part);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(comparison.differences().empty());
}

// Each kind of damage, to arrays of all kinds: it is found, and in the regions that it touches and no others.
TEST(ComparisonTest, DamageIsFoundWhereItIs) {
  Random random;
  SEED_TRACE(random);
  const int wanted = test::rounds(test::rounds(600), 10'000);
  int damaged = 0;
  for (int i = 0; damaged < wanted; ++i) {
    const Reordering what = test::random_reordering(random, 3);
    const Bytes source = some_data(random, what);
    const Bytes right = test::performed(what, source);
    const std::uint64_t element = what.element_bytes, count = what.elements();
    const auto any = [&] { return random.in(std::uint64_t{0}, count - 1); };
    Bytes target = right;
    const auto block = [&](std::uint64_t at) {
      return target.begin() + static_cast<std::ptrdiff_t>(at * element);
    };
    const std::uint64_t length = random.in(std::uint64_t{1}, std::max<std::uint64_t>(1, count / 4));
    const std::uint64_t most = count - length, a = random.in(std::uint64_t{0}, most),
                        b = random.in(std::uint64_t{0}, most), bytes = length * element;
    switch (i % 6) {
      case 0:  // one bit
        target[random.in(std::size_t{0}, target.size() - 1)] ^= std::byte{1} << random.in(0, 7);
        break;
      case 1:  // two elements change places
        if (const std::uint64_t x = any(), y = any(); x != y)
          std::swap_ranges(block(x), block(x) + static_cast<std::ptrdiff_t>(element), block(y));
        break;
      case 2:  // two blocks do
        if (a + length <= b || b + length <= a)
          std::swap_ranges(block(a), block(a) + static_cast<std::ptrdiff_t>(bytes), block(b));
        break;
      case 3:  // a block was never written
        std::fill_n(block(a), bytes, std::byte{0});
        break;
      case 4:  // or has what was there before
        std::ranges::copy(test::random_bytes(random, bytes), block(a));
        break;
      default:  // or was written to another place as well
        std::memmove(target.data() + b * element, target.data() + a * element, bytes);
    }
    const auto found = compared(random, what, source, target);
    const Comparison comparison(what);
    const std::uint64_t region = comparison.region_bytes();
    for (std::uint64_t begin = 0; begin < right.size(); begin += region) {
      const std::uint64_t end = std::min<std::uint64_t>(begin + region, right.size());
      const bool differs = std::memcmp(target.data() + begin, right.data() + begin, end - begin) != 0;
      const bool told = std::ranges::any_of(
          found, [&](const Stretch& stretch) { return stretch.begin <= begin && end <= stretch.end; });
      ASSERT_EQ(told, differs) << "damage " << i << ", bytes from " << begin;
    }
    damaged += target != right;
  }
  test::tally(damaged, "flips, swaps, zeroed, stale and duplicated blocks, of arrays in memory");
}

// Two or four words that change by as much, up and down, in a regular pattern. Weights that are multiples of
// each other, or equally far apart, would let some of these pass.
TEST(ComparisonTest, ChangesDoNotCancelEachOther) {
  Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{1 << 16}, 8, Order::c}, {});
  const std::vector<std::uint64_t> words(what.elements(), std::uint64_t{1} << 62);
  Bytes source(what.bytes());
  std::memcpy(source.data(), words.data(), source.size());
  for (int i = 0; i < test::rounds(400); ++i) {
    Bytes target = source;
    const auto change = [&](std::uint64_t word, std::uint64_t by) {
      const std::uint64_t changed = words[word] + by;
      std::memcpy(target.data() + word * 8, &changed, 8);
    };
    const std::uint64_t by = std::uint64_t{1} << random.in(0, 61);
    const std::uint64_t at = random.in(std::uint64_t{0}, what.elements() / 512 - 1) * 512;  // of a region
    const std::uint64_t distance = std::uint64_t{1} << random.in(0, 7);
    change(at, by);
    change(at + distance, -by);
    if (i % 2 == 0) {
      const std::uint64_t other = at + 256 + random.in(0, 127);
      change(other, -by);
      change(other + distance, by);
    }
    ASSERT_EQ(compared(random, what, source, target).size(), 1u);
  }
}

TEST(ComparisonTest, ThereAreUpTo4096Regions) {
  const auto region = [](std::uint64_t elements) {
    return Comparison(transposition({{elements}, 8, Order::c}, {})).region_bytes();
  };
  EXPECT_EQ(region(1), 4096u);
  EXPECT_EQ(region(2 << 20), 4096u);
  EXPECT_EQ(region((2 << 20) + 1), 8192u);
  EXPECT_EQ(region(std::uint64_t{1} << 40), std::uint64_t{1} << 31);
}

}  // namespace
}  // namespace xorder::verify
