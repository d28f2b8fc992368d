#include "xorder/memory/permute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <thread>

#include "kernel/instruction_sets.hpp"
#include "kernel/vectors/lines.hpp"
#include "kernel/vectors/parcel.hpp"
#include "memory/expect_permuted.hpp"
#include "memory/small_caches.hpp"
#include "plan/reference.hpp"
#include "xorder/error.hpp"

namespace xorder::memory {
namespace {

using gf2::AffineMap;
using test::any_caches;
using test::any_map;
using test::expect_permuted;
using test::random_bytes;
using test::with_every_instruction_set;

std::uint64_t any_size(test::Random& random) {
  const std::uint64_t size = random.in(std::uint64_t{1}, std::uint64_t{38});
  return size <= 33 ? size : size == 34 ? 100 : std::uint64_t{1} << (size - 35);
}

// Small ones of every kind: empty axes, axes of one, batches, maps among other axes.
TEST(InMemory, DoesWhatTheDefinitionSays) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 600; ++i) {
    SCOPED_TRACE(i);
    const auto caches = any_caches(random);
    Reordering what = test::random_reordering(random, 4);
    if (random.in(0, 1) == 0) what.element_bytes = any_size(random);
    if (!what.mapped && random.in(0, 30) == 0) what.extents.back() = 0;
    expect_permuted(what, random, {random.in(1u, 3u)},
                    random.in(0, 1) == 0 ? 0 : random.in(std::size_t{0}, std::size_t{63}));
    if (HasFatalFailure()) return;
  }
}

TEST(InMemory, MapsWithEveryInstructionSet) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    for (int i = 0; i < 100; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      Reordering what;
      what.element_bytes = std::uint64_t{1} << random.in(0, 6);
      const int n = random.in(0, 17 - std::countr_zero(what.element_bytes));
      what.extents = {random.in(std::uint64_t{1}, std::uint64_t{6}), std::uint64_t{1} << n};
      what.order = {0, 1};
      what.mapped = 1;
      what.map = any_map(random, n);
      if (random.in(0, 2) == 0) what.map.complement = random() & gf2::low_mask(n);
      expect_permuted(what, random, {1},
                      random.in(0, 2) == 0 ? random.in(std::size_t{0}, std::size_t{63}) : 0);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// Sizes around those of blocks, tiles and lines, prime and not.
TEST(InMemory, MatricesWithEveryInstructionSet) {
  test::Random random;
  SEED_TRACE(random);
  const std::vector<std::uint64_t> extents = {1,  2,  3,  7,  8,   13,  16,  17,  31,
                                              32, 61, 64, 67, 127, 128, 131, 256, 509};
  constexpr std::uint64_t most_elements = 509 * 509;
  with_every_instruction_set([&] {
    for (int i = 0; i < 120; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      const std::uint64_t w = random.in(0, 1) == 0 ? any_size(random) : std::uint64_t{1} << random.in(0, 4);
      ArrayShape shape{{}, w, Order::c};
      for (int axis = random.in(2, 4); axis > 0; --axis) {
        const std::size_t largest = axis > 2 ? 4 : extents.size() - 1;
        shape.extents.push_back(extents[random.in(std::size_t{0}, largest)]);
      }
      if (checked_bytes(shape) / w > most_elements) continue;  // those take most of the time
      std::vector<int> axes(shape.extents.size());
      std::iota(axes.begin(), axes.end(), 0);
      std::ranges::shuffle(axes, random);
      expect_permuted(transposition(shape, axes), random, {1},
                      random.in(0, 2) == 0 ? random.in(std::size_t{0}, std::size_t{63}) : 0);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// Some of the maps are performed as one, the rest of the batch alone.
TEST(InMemory, BatchesOfShortMaps) {
  test::Random random;
  SEED_TRACE(random);
  int joined = 0;
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE(i);
    const auto caches = any_caches(random);
    const std::uint64_t w = any_size(random);
    const int bits = random.in(1, 9);
    const std::uint64_t count = random.in(std::uint64_t{1}, 3 + (300'000 / w >> bits));
    const Reordering what =
        mapping_along({{count, std::uint64_t{1} << bits}, w, Order::c}, 1, any_map(random, bits));
    expect_permuted(what, random, {1, 3},
                    random.in(0, 1) == 0 ? 0 : random.in(std::size_t{0}, std::size_t{63}));
    if (HasFatalFailure()) return;
    if (InMemoryPlan(what).describe().find(fmt::format("map of {} bits", bits)) == std::string::npos)
      ++joined;
  }
  EXPECT_GT(joined, 50);
}

// Maps that permute the bits of a few hundred bytes are small matrices, also among other axes.
TEST(InMemory, BatchesOfShortBitPermutations) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    int in_parcels = 0;
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      Reordering what;
      const int lg_bytes = random.in(2, 10), bits = random.in(2, lg_bytes);
      what.element_bytes = std::uint64_t{1} << (lg_bytes - bits);
      if (random.in(0, 3) == 0) what.element_bytes = 3;
      what.extents = {random.in(std::uint64_t{1}, std::uint64_t{5}),
                      random.in(std::uint64_t{1}, 30000u >> lg_bytes), std::uint64_t{1} << bits};
      what.order = random.in(0, 1) == 0 ? std::vector{0, 1, 2} : std::vector{1, 0, 2};
      what.mapped = 2;
      std::vector<int> target(static_cast<std::size_t>(bits));
      std::iota(target.begin(), target.end(), 0);
      std::ranges::shuffle(target, random);
      what.map = {gf2::BitMatrix::bit_permutation(target), random.in(0, 3) == 0 ? 1u : 0u};
      if (InMemoryPlan(what).describe().find("parcels") != std::string::npos) ++in_parcels;
      expect_permuted(what, random, {1}, random.in(std::size_t{0}, std::size_t{63}));
      if (testing::Test::HasFatalFailure()) return;
    }
    if (kernel::Parcel::vectors(1).loaded == 64) {
      EXPECT_GT(in_parcels, 5);
    }
  });
}

// A tile must have a line of the run, or the next one lacks what is in front of it.
TEST(InMemory, RunsLittleLongerThanALine) {
  test::Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  for (const std::uint64_t w : {1, 2, 3, 4, 5, 12}) {
    for (std::uint64_t run = 64 / w; run <= 64 / w + 20; ++run) {
      const std::uint64_t columns = random.in(std::uint64_t{700}, std::uint64_t{1020}) / (2 * w);
      const std::vector<int> axes{2, 0, 3, 1};
      expect_permuted(transposition({{5, run, columns, 2}, w, Order::c}, axes), random, {1},
                      random.in(std::size_t{0}, std::size_t{63}));
      Reordering mapped = mapping_along({{run, 6, 128}, w, Order::c}, 2, test::random_map(random, 7));
      mapped.order = {2, 1, 0};
      expect_permuted(mapped, random, {1}, random.in(std::size_t{0}, std::size_t{63}));
      mapped.order = {1, 2, 0};
      expect_permuted(mapped, random, {1}, random.in(std::size_t{0}, std::size_t{63}));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(InMemory, SkinnyMatrices) {
  test::Random random;
  SEED_TRACE(random);
  for (std::uint64_t w : {1, 2, 3, 4, 8, 12, 16, 100}) {
    for (std::uint64_t few = 1; few <= 17; ++few) {
      const std::uint64_t many = random.in(std::uint64_t{1000}, std::uint64_t{3000});
      const auto caches = any_caches(random);
      expect_permuted(transposition({{many, few}, w, Order::c}, {}), random, {1});
      expect_permuted(transposition({{few, many}, w, Order::c}, {}), random, {1}, 8);
      if (HasFatalFailure()) return;
    }
  }
}

// The runs of a tile all begin at the same sets of the caches. Also a batch, whose last tile has no next one.
// Tiles are gathered if the target begins within a line.
TEST(InMemory, TilesWhoseRunsShareSets) {
  test::Random random;
  SEED_TRACE(random);
  // The size of the second level is no power of two on some Intel processors.
  CacheSizes sizes = test::small_sizes();
  if (random.in(0, 1) == 0) sizes.second = 40960;
  const test::AssumedCaches caches(sizes);
  AffineMap complemented = bmmc::bit_reverse(18);
  complemented.complement = random() & gf2::low_mask(18);
  for (const Reordering& what :
       {mapping_of_all({{std::uint64_t{1} << 22}, 1, Order::c}, bmmc::bit_reverse(22)),
        mapping_of_all({{std::uint64_t{1} << 18}, 8, Order::c}, complemented),
        mapping_of_all({{std::uint64_t{1} << 20}, 2, Order::c}, bmmc::bit_reverse(20)),
        mapping_along({{3, std::uint64_t{1} << 18}, 4, Order::c}, 1, complemented)}) {
    const std::string plan = InMemoryPlan(what).describe();
    EXPECT_NE(plan.find("gathered"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("direct"), std::string::npos) << plan;
    EXPECT_NE(plan.find("segments of 256 bytes"), std::string::npos) << plan;
    for (const std::size_t before : {0, 24}) expect_permuted(what, random, {1, 2, 3}, before);
    if (HasFatalFailure()) return;
  }
}

// In the cache, the lines of a block all belong in the same sets of the first level, or do not.
TEST(InMemory, LinesThatShareSets) {
  test::Random random;
  SEED_TRACE(random);
  const test::AssumedCaches caches({});
  for (const std::uint64_t w : {1, 2, 4}) {
    for (const std::uint64_t bytes : {16 << 10, 256 << 10}) {
      const int bits = std::countr_zero(bytes / w);
      AffineMap map = bmmc::bit_reverse(bits);
      if (random.in(0, 1) == 0) map.complement = random() & gf2::low_mask(bits);
      const Reordering what = mapping_along({{3, std::uint64_t{1} << bits}, w, Order::c}, 1, map);
      const std::string plan = InMemoryPlan(what).describe();
      EXPECT_NE(plan.find("direct"), std::string::npos) << plan;
      with_every_instruction_set([&] {
        expect_permuted(what, random, {1, 2}, random.in(std::size_t{0}, std::size_t{63}));
      });
      if (HasFatalFailure()) return;
    }
  }
}

// Matrices whose rows lie a multiple of 64 KiB apart, and that leave the caches: tiles have few of them.
TEST(InMemory, RowsFarApart) {
  test::Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  for (const std::uint64_t w : {4, 8, 16}) {
    const std::uint64_t rows = 768 / w + random.in(std::uint64_t{1}, std::uint64_t{40});
    const Reordering what = transposition({{rows, 65536 / w}, w, Order::c}, {});
    const std::string plan = InMemoryPlan(what).describe(), few = fmt::format("tiles of {} rows", 256 / w);
    EXPECT_NE(plan.find(few), std::string::npos) << plan;
    expect_permuted(what, random, {1, 3}, random.in(std::size_t{0}, std::size_t{63}));
    if (HasFatalFailure()) return;
  }
}

// Tiles of few lines, which are not permuted before they are transposed. If a line takes several stores, those of a
// tile must follow each other, as in a rotation and not in a bit reversal.
TEST(InMemory, TilesFromLineToLine) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    const test::SmallCaches caches;
    // Past the caches, but less than 16 times the third level: from there on bit reversals are buffered.
    const auto bits = [](std::uint64_t w) { return 16 - std::countr_zero(w); };
    bool permuted = false;
    const auto check = [&](const Reordering& what, bool direct) {
      const std::string plan = InMemoryPlan(what).describe();
      EXPECT_EQ(plan.find("direct, streamed") != std::string::npos, direct) << plan;
      permuted = permuted || plan.find("permuted after, direct") != std::string::npos;
      expect_permuted(what, random, {1}, 0);
      expect_permuted(what, random, {1}, random.in(std::size_t{1}, std::size_t{63}));
    };
    for (const std::uint64_t w : {4, 8, 16, 32, 64, 128}) {
      const bool direct = w >= 64 || kernel::lines_in_one_store();
      AffineMap map = bmmc::bit_reverse(bits(w));
      if (random.in(0, 1) == 0) map.complement = random() & gf2::low_mask(bits(w));
      check(mapping_of_all({{std::uint64_t{1} << bits(w)}, w, Order::c}, map), direct);
      check(mapping_along({{3, std::uint64_t{1} << (bits(w) - 2)}, w, Order::c}, 1,
                          bmmc::bit_reverse(bits(w) - 2)),
            direct);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
      check(mapping_of_all({{std::uint64_t{1} << bits(w)}, w, Order::c},
                           bmmc::rotate(bits(w), random.in(1, 2))),
            true);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(permuted);
  });
  // Several tasks.
  const test::SmallCaches caches;
  const Reordering large = mapping_of_all({{std::uint64_t{1} << 19}, 16, Order::c}, bmmc::rotate(19, 2));
  EXPECT_NE(InMemoryPlan(large).describe().find("direct, streamed"), std::string::npos);
  for (const std::size_t before : {0, 16}) expect_permuted(large, random, {1, 2, 3}, before);
}

// Large enough for several threads, and mostly for streaming stores.
TEST(InMemory, LargeOnes) {
  test::Random random;
  SEED_TRACE(random);
  const std::vector<Reordering> cases = {
      mapping_of_all({{std::uint64_t{1} << 19}, 16, Order::c}, test::random_map(random, 19)),
      mapping_of_all({{std::uint64_t{1} << 20}, 8, Order::c}, bmmc::bit_reverse(20)),
      mapping_of_all({{std::uint64_t{1} << 21}, 4, Order::c}, bmmc::gray(21)),
      mapping_of_all({{std::uint64_t{1} << 18}, 24, Order::c}, bmmc::bit_reverse(18)),
      transposition({{1021, 1031}, 8, Order::c}, {}),
      transposition({{2053, 2309}, 1, Order::c}, {}),
      transposition({{16, 262147}, 4, Order::c}, {}),
      transposition({{262147, 16}, 4, Order::c}, {}),
      transposition({{3, 511, 577, 2}, 4, Order::c}, std::vector<int>{2, 0, 3, 1}),
      transposition({{61, 53, 3, 131}, 8, Order::c}, std::vector<int>{1, 0, 2, 3}),
      transposition({{7, 11, 20001}, 4, Order::c}, std::vector<int>{1, 0, 2}),
      transposition({{800000}, 10, Order::c}, {}),
      transposition({{300000, 3, 3}, 1, Order::c}, std::vector<int>{0, 2, 1}),
      transposition({{2000, 13, 13}, 8, Order::c}, std::vector<int>{0, 2, 1}),
      transposition({{60000, 6, 5, 3}, 2, Order::c}, std::vector<int>{2, 0, 3, 1}),
      transposition({{500, 50, 2, 33, 3}, 1, Order::c}, std::vector<int>{1, 2, 4, 3, 0}),
      mapping_along({{11, 65536, 3}, 4, Order::fortran}, 1, test::random_map(random, 16)),
      mapping_along({{65536, 17}, 5, Order::fortran}, 0, bmmc::gray(16)),
  };
  for (const Reordering& what : cases) {
    const auto caches = any_caches(random);
    expect_permuted(what, random, {1, 2, 3}, random.in(0, 1) == 0 ? 24 : 0);
    if (HasFatalFailure()) return;
  }
}

// Larger than the cache, so that they go through buffers and past it: what tiles do is in
// DoesWhatTheDefinitionSays.
TEST(InMemory, LargeMatricesWithEveryInstructionSet) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    const auto caches = any_caches(random);
    const std::uint64_t bytes =
        (std::uint64_t{2} << 20) + random.in(std::uint64_t{0}, std::uint64_t{1} << 18);
    const std::uint64_t w = std::uint64_t{1} << random.in(0, 4),
                        columns = random.in(std::uint64_t{2}, std::uint64_t{16});
    const std::uint64_t rows = bytes / w / columns;
    const std::size_t before = 8 * random.in(std::size_t{0}, std::size_t{2});
    expect_permuted(transposition({{rows, columns}, w, Order::c}, {}), random, {1}, before);
    expect_permuted(transposition({{columns, rows}, w, Order::c}, {}), random, {1}, before);
    const std::uint64_t side = random.in(std::uint64_t{500}, std::uint64_t{1100});
    expect_permuted(transposition({{bytes / w / side, side}, w, Order::c}, {}), random, {1}, before);
  });
}

// One plan, performed by eight threads at once, by four of them in place.
void expect_many_callers(std::uint64_t side) {
  test::Random random;
  SEED_TRACE(random);
  const Reordering what = transposition({{side, side}, 4, Order::c}, {});
  const InMemoryPlan plan(what);
  const auto source = random_bytes(random, what.bytes());
  const auto expected = test::performed(what, source);
  std::vector<std::vector<std::byte>> targets(4, std::vector<std::byte>(source.size()));
  std::vector<std::vector<std::byte>> in_place(4, source);
  {
    std::vector<std::jthread> threads;
    for (auto& target : targets) threads.emplace_back([&] { plan.execute(source.data(), target.data(), 2); });
    for (auto& array : in_place) threads.emplace_back([&] { plan.execute_in_place(array.data(), 2); });
  }
  for (const auto& target : targets) EXPECT_TRUE(target == expected);
  for (const auto& array : in_place) EXPECT_TRUE(array == expected);
}

TEST(InMemory, OnePlanByManyThreadsAtOnce) { expect_many_callers(347); }

// Each caller starts threads of its own. (Not with the thread sanitizer, which does not see that TBB guards
// the memory of arenas that several threads make.)
TEST(InMemory, ManyCallersWithThreads) { expect_many_callers(901); }

TEST(InMemory, RefusesWhatIsNotWellFormed) {
  EXPECT_THROW((InMemoryPlan{Reordering{4, {2, 3}, {0, 0}, {}, {}}}), InputError);      // an axis twice
  EXPECT_THROW((InMemoryPlan{Reordering{4, {2, 3}, {0}, {}, {}}}), InputError);         // and one missing
  EXPECT_THROW((InMemoryPlan{Reordering{0, {2, 3}, {1, 0}, {}, {}}}), InputError);      // no bytes
  EXPECT_THROW((InMemoryPlan{Reordering{4, {6}, {0}, 0, bmmc::gray(3)}}), InputError);  // 6 is not 2^3
}

// Elements of any type that is moved by copying bytes, in anything contiguous.
TEST(InMemory, ArraysHaveTypes) {
  struct Point {
    float x, y, z;
    bool operator==(const Point&) const = default;
  };
  std::vector<Point> points;
  for (int i = 0; i < 6; ++i) points.push_back({static_cast<float>(i), 0, 1});
  const std::vector<Point> transposed{points[0], points[2], points[4], points[1], points[3], points[5]};
  const Reordering what = transposition({{3, 2}, sizeof(Point), Order::c}, {});
  const InMemoryPlan plan(what);
  std::array<Point, 6> target{};
  plan.execute(points, target);
  EXPECT_TRUE(std::ranges::equal(target, transposed));
  Point pointed[6] = {};
  plan.execute(points.data(), pointed);
  EXPECT_TRUE(std::ranges::equal(pointed, transposed));
  std::vector<Point> in_place = points;
  plan.execute_in_place(in_place);
  EXPECT_EQ(in_place, transposed);
  permute_in_place(transposition({{2, 3}, sizeof(Point), Order::c}, {}), std::span(in_place));
  EXPECT_EQ(in_place, points);
  permute(what, std::span<const Point>(points), std::span(in_place));
  EXPECT_EQ(in_place, transposed);

  std::vector<Point> more(7), none;
  EXPECT_THROW(plan.execute(points, more), InputError);
  EXPECT_THROW(plan.execute(points, none), InputError);
  EXPECT_THROW(plan.execute(more, in_place), InputError);
  EXPECT_THROW(plan.execute(points, points), InputError);
  EXPECT_THROW(plan.execute_in_place(more), InputError);
  EXPECT_THROW(InMemoryPlan({{3, 2}, 12, Order::c}, std::vector{1, 0}, {36, 12}).execute(points, target),
               InputError);
  InMemoryPlan(transposition({{0, 2}, sizeof(Point), Order::c}, {})).execute(none, none);
}

}  // namespace
}  // namespace xorder::memory
