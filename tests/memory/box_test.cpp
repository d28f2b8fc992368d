#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "kernel/instruction_sets.hpp"
#include "kernel/vectors/batch.hpp"
#include "kernel/vectors/parcel.hpp"
#include "kernel/vectors/transpose.hpp"
#include "memory/box/box.hpp"
#include "memory/box/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/expect_permuted.hpp"
#include "memory/small_caches.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::memory {
namespace {

using test::any_caches;
using test::expect_permuted;
using test::with_every_instruction_set;

// An array of several axes, most of them short, such as many small matrices, of at most `most_bytes`.
Reordering any_short_axes(test::Random& random, std::uint64_t most_bytes) {
  const std::vector<std::uint64_t> widths = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24};
  ArrayShape shape{{}, widths[random.in(std::size_t{0}, widths.size() - 1)], Order::c};
  const int rank = random.in(3, 6);
  std::uint64_t bytes = shape.element_bytes;
  for (int axis = 0; axis < rank; ++axis) {
    const std::uint64_t most = std::max<std::uint64_t>(1, most_bytes / bytes);
    const std::uint64_t longest[] = {4, 20, 20, 300, 5000};
    shape.extents.push_back(
        random.in(std::uint64_t{1}, std::min(most, longest[random.in(std::size_t{0}, std::size_t{4})])));
    bytes *= shape.extents.back();
  }
  std::ranges::shuffle(shape.extents, random);
  std::vector<int> axes(shape.extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::ranges::shuffle(axes, random);
  return transposition(shape, axes);
}

// The tiles' kinds depend on the extents, so each kind must occur.
TEST(BoxesInMemory, ShortAxes) {
  test::Random random;
  SEED_TRACE(random);
  const std::vector<std::string> kinds = {" loads",     "by a table, direct", "columns, direct",
                                          "short runs", "by up to",           "; in tiles of"};
  std::set<std::string> seen;
  with_every_instruction_set([&] {
    for (int i = 0; i < 120; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      const Reordering what = any_short_axes(random, 100'000);
      const std::string plan = InMemoryPlan(what).describe();
      for (const std::string& kind : kinds) {
        if (plan.find(kind) != std::string::npos) seen.insert(kind);
      }
      expect_permuted(what, random, {1},
                      random.in(0, 2) == 0 ? random.in(std::size_t{0}, std::size_t{63}) : 0);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
  EXPECT_EQ(seen.size(), kinds.size()) << fmt::format("{}", fmt::join(seen, ", "));
}

// Many matrices, or boxes of more axes, that fit in a few registers, perhaps among other axes.
TEST(BoxesInMemory, MatricesInRegisters) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    int in_parcels = 0;
    for (int i = 0; i < 100; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      ArrayShape shape{{}, random.in(std::uint64_t{1}, std::uint64_t{8}), Order::c};
      const std::uint64_t most = random.in(0, 1) == 0 ? 64 : 512;
      std::uint64_t bytes = shape.element_bytes;
      for (int axis = random.in(2, 3); axis > 0 && 2 * bytes <= most; --axis) {
        shape.extents.push_back(random.in(std::uint64_t{2}, std::min<std::uint64_t>(16, most / bytes)));
        bytes *= shape.extents.back();
      }
      const std::uint64_t all = random.in(std::uint64_t{1000}, std::uint64_t{60'000});
      shape.extents.insert(shape.extents.begin(), all / bytes + 1);
      if (random.in(0, 3) == 0) shape.extents.insert(shape.extents.begin(), random.in(1u, 3u));
      std::vector<int> axes(shape.extents.size());
      std::iota(axes.begin(), axes.end(), 0);
      const auto first_inner = static_cast<std::ptrdiff_t>(random.in(0, 3) == 0 ? 0 : 1);
      std::ranges::shuffle(axes.begin() + first_inner, axes.end(), random);
      const Reordering what = transposition(shape, axes);
      if (InMemoryPlan(what).describe().find("parcels") != std::string::npos) ++in_parcels;
      expect_permuted(what, random, {1},
                      random.in(0, 2) == 0 ? random.in(std::size_t{0}, std::size_t{63}) : 0);
      if (testing::Test::HasFatalFailure()) return;
    }
    if (kernel::Parcel::vectors(1).loaded == 0) return;
    EXPECT_GT(in_parcels, kernel::Parcel::vectors(1).loaded == 64 ? 20 : 0);
    // Several tasks, with two outer axes.
    const Reordering pairs =
        transposition({{3, 4, 25'000, 2, 2}, 2, Order::c}, std::vector<int>{1, 0, 2, 4, 3});
    for (const bool small_caches : {false, true}) {
      const auto caches = small_caches ? std::make_unique<test::SmallCaches>() : nullptr;
      const std::string plan = InMemoryPlan(pairs).describe();
      EXPECT_NE(plan.find("parcels"), std::string::npos);
      EXPECT_TRUE(!small_caches || plan.find("streamed") != std::string::npos) << plan;
      expect_permuted(pairs, random, {1, 2, 3}, 24);
    }
  });
}

// Batches of matrices with few rows or columns, or strips of them.
Reordering any_matrices(test::Random& random, std::uint64_t bytes) {
  const std::uint64_t w = std::uint64_t{1} << random.in(0, 3), rows = random.in(4u, 70u),
                      columns = random.in(4u, random.in(0, 3) == 0 ? 2000u : 70u);
  const std::uint64_t matrices = std::max<std::uint64_t>(1, bytes / (rows * columns * w));
  return random.in(0, 2) == 0
             ? transposition({{rows, matrices, columns}, w, Order::c}, std::vector<int>{1, 2, 0})
             : transposition({{matrices, rows, columns}, w, Order::c}, std::vector<int>{0, 2, 1});
}

TEST(BoxesInMemory, MatricesOfFewRows) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    for (int i = 0; i < 80; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      expect_permuted(any_matrices(random, 30'000), random, {1},
                      random.in(0, 2) == 0 ? random.in(std::size_t{0}, std::size_t{63}) : 0);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// A task may overshoot only within its own part: another task may have finished the next one.
TEST(BoxesInMemory, TasksInAnyOrder) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    int with_several = 0;
    for (int i = 0; i < 32; ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      const Reordering what =
          canonical(i % 2 == 0 ? any_matrices(random, 700'000) : any_short_axes(random, 700'000));
      if (std::ranges::is_sorted(what.order)) continue;  // nothing moves
      const auto engine = make_box_engine(what, random.in(0, 1) == 0);
      const auto source = test::random_bytes(random, what.bytes());
      std::vector<std::byte> target(what.bytes());
      std::vector<std::uint64_t> tasks(engine->tasks());
      std::iota(tasks.begin(), tasks.end(), 0);
      std::ranges::shuffle(tasks, random);
      for (const std::uint64_t task : tasks) engine->perform(task, task + 1, source.data(), target.data());
      ASSERT_TRUE(target == test::performed(what, source)) << engine->describe();
      if (tasks.size() > 1) ++with_several;
    }
    EXPECT_GT(with_several, 4);
  });
}

// Tiles that are permuted as small arrays by several threads, with smaller ones at the ends of axes. Which of these
// arrays have such tiles depends on the instruction set: three with AVX2, all with AVX-512.
TEST(BoxesInMemory, NestedByManyThreads) {
  test::Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  int nested = 0;
  const auto expect_permuted_by_threads = [&](const ArrayShape& shape, const std::vector<int>& axes) {
    const Reordering what = transposition(shape, axes);
    ASSERT_GE(what.bytes(), 2 << 20);  // or else one thread does it alone
    const std::string plan = InMemoryPlan(what).describe();
    if (plan.find("; in tiles of") != std::string::npos) ++nested;
    for (const std::size_t offset : {0, 24}) expect_permuted(what, random, {1, 2, 3}, offset);
  };
  expect_permuted_by_threads({{5, 200'003}, 3, Order::c}, {1, 0});
  expect_permuted_by_threads({{11, 65'473}, 3, Order::c}, {1, 0});  // the last tile has one column
  expect_permuted_by_threads({{7, 2, 71'433, 4}, 1, Order::c}, {2, 0, 3, 1});
  expect_permuted_by_threads({{27, 9, 260, 46}, 1, Order::c}, {2, 0, 3, 1});
  expect_permuted_by_threads({{1301, 7, 5, 3}, 16, Order::c}, {2, 0, 3, 1});
  expect_permuted_by_threads({{97, 3, 2, 2, 131, 19}, 2, Order::c}, {0, 3, 5, 1, 4, 2});
  EXPECT_GE(nested, kernel::Parcel::vectors(1).loaded == 64 ? 6 : 2);
}

// Matrices of whole blocks, one or many, along one axis or two, which some processors transpose without looking
// anything up.
TEST(BoxesInMemory, Batches) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    int in_batches = 0, in_batches_along_two = 0;
    for (int i = 0; i < test::rounds(300); ++i) {
      SCOPED_TRACE(i);
      const std::uint64_t w = std::uint64_t{1} << random.in(0, 4), rows = std::uint64_t{2} << random.in(0, 8),
                          columns = random.in(1u, 3u) * (std::uint64_t{2} << random.in(0, 7));
      if (rows * columns * w > 10'000) continue;
      const bool by_threads = random.in(0, 9) == 0;  // who share arrays of 2 MiB and more
      const std::uint64_t count =
          by_threads ? (std::uint64_t{2} << 20) / (rows * columns * w) + 1 : random.in(1u, 40u);
      const bool along_two = random.in(0, 1) == 0;
      const std::uint64_t inner = random.in(2u, 9u);
      const Reordering what =
          along_two ? transposition({{count / inner + 1, inner, rows, columns}, w, Order::c},
                                    std::vector<int>{1, 0, 3, 2})
                    : transposition({{count, rows, columns}, w, Order::c}, std::vector<int>{0, 2, 1});
      if (InMemoryPlan(what).describe().ends_with("in batches"))
        ++(along_two ? in_batches_along_two : in_batches);
      expect_permuted(what, random, by_threads ? std::vector<unsigned>{1, 3} : std::vector<unsigned>{1},
                      random.in(0, 1) * random.in(std::size_t{0}, std::size_t{63}));
      if (testing::Test::HasFatalFailure()) return;
    }
    if (kernel::batch_function(8, 4, 4) != nullptr) {
      EXPECT_GT(in_batches, test::rounds(20));
      EXPECT_GT(in_batches_along_two, test::rounds(10));
    }
  });
}

// Larger than the second level, with rows whose lines share few sets of it.
TEST(BoxesInMemory, MatricesWhoseRowsShareSets) {
  test::Random random;
  SEED_TRACE(random);
  const test::AssumedCaches caches({4096, 32768, 8 << 20, 32768, 1 << 20, true});
  with_every_instruction_set([&] {
    for (const std::uint64_t w : {1, 2, 3, 4, 8, 16}) {
      SCOPED_TRACE(w);
      const std::uint64_t rows = random.in(17u, 100u), columns = 2048 * random.in(1u, 3u) / (w == 3 ? 1 : w);
      const Reordering wide = transposition({{rows, columns}, w, Order::c}, {});
      EXPECT_EQ(InMemoryPlan(wide).describe().ends_with("direct"), kernel::transposes_squares(w));
      expect_permuted(wide, random, {1}, 24);
      const Reordering narrow = transposition({{rows, columns / 8, 8}, w, Order::c}, {});
      expect_permuted(narrow, random, {1}, 0);
    }
  });
}

// Whatever the estimates say. The last tile along the source's fastest axis often has one coordinate of it, so
// that no axis of that tile follows the elements.
TEST(BoxesInMemory, AnyNestedTiles) {
  test::Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  with_every_instruction_set([&] {
    for (int i = 0; i < 100; ++i) {
      SCOPED_TRACE(i);
      Reordering what;
      if (i % 2 == 0) {
        const std::uint64_t w = random.in(0, 9) == 0 ? 700 : random.in(1u, 13u);
        const std::uint64_t columns = 64 * random.in(std::uint64_t{1}, w == 700 ? 3u : 80u) + 1;
        const std::uint64_t rows = std::clamp<std::uint64_t>(200'000 / (columns * w), 2, 20);
        what = transposition({{2, random.in(std::uint64_t{2}, rows), columns}, w, Order::c},
                             random.in(0, 1) == 0 ? std::vector{2, 0, 1} : std::vector{0, 2, 1});
      } else {
        what = any_short_axes(random, 100'000);
      }
      what = canonical(what);
      if (std::ranges::is_sorted(what.order)) continue;  // nothing moves
      const auto engine = make_nested(TargetAxes(what), 1e9);
      const auto source = test::random_bytes(random, what.bytes());
      std::vector<std::byte> target(what.bytes());
      engine->perform(0, engine->tasks(), source.data(), target.data());
      ASSERT_TRUE(target == test::performed(what, source)) << what.bytes() << " bytes " << engine->describe();
    }
  });
}

// Arrays that several threads move to their places directly: several strips of columns and chunks of rows; runs
// that are shortened, so that an axis remains outside; matrices of few rows; elements picked by a table.
TEST(BoxesInMemory, DirectlyByManyThreads) {
  test::Random random;
  SEED_TRACE(random);
  const CacheSizes before = cache_sizes();
  assume_cache_sizes({32 << 10, 1 << 20, 32 << 20, 1 << 20, 4 << 20, true});
  const auto expect_direct = [&](const ArrayShape& shape, const std::vector<int>& axes,
                                 const std::string& kind) {
    const Reordering what = transposition(shape, axes);
    ASSERT_GE(what.bytes(), 2 << 20);  // or else one thread does it alone
    const std::string plan = InMemoryPlan(what).describe();
    EXPECT_NE(plan.find(kind), std::string::npos) << plan;
    for (const std::size_t offset : {0, 24}) expect_permuted(what, random, {1, 2, 3}, offset);
  };
  expect_direct({{1021, 1031}, 2, Order::c}, {1, 0}, "columns, direct");
  expect_direct({{5, 7, 823, 37}, 2, Order::c}, {1, 3, 0, 2}, "columns, direct");
  expect_direct({{2011, 26, 26}, 2, Order::c}, {0, 2, 1}, "columns, direct");
  expect_direct({{1301, 7, 5, 3}, 16, Order::c}, {2, 0, 3, 1}, "by a table, direct");
  assume_cache_sizes(before);
}

}  // namespace
}  // namespace xorder::memory
