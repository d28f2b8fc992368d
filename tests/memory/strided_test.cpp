#include "memory/strided.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "kernel/instruction_sets.hpp"
#include "memory/expect_permuted.hpp"
#include "memory/make_engine.hpp"
#include "memory/micro.hpp"
#include "memory/small_caches.hpp"
#include "sanitized.hpp"
#include "xorder/error.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::memory {
namespace {

using test::any_caches;
using test::AssumedCaches;
using test::Guarded;
using test::Random;
using test::with_every_instruction_set;
using Extents = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

struct Case {
  ArrayShape source;
  std::vector<int> axes;
  Strides target_strides;

  Extents target_extents() const { return transposed_extents(source, axes); }
  std::string text() const {
    return fmt::format("({}) of {} bytes with strides ({}), axes ({}), to ({})",
                       fmt::join(source.extents, ", "), source.element_bytes, fmt::join(source.strides, ", "),
                       fmt::join(axes, ", "), fmt::join(target_strides, ", "));
  }
};

// Where each element of an array lies, in C order of the indices: the definition.
Strides places(const Extents& extents, const Strides& strides) {
  Strides all{0};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    Strides longer;
    for (const std::int64_t place : all) {
      for (std::uint64_t i = 0; i < extents[axis]; ++i)
        longer.push_back(place + static_cast<std::int64_t>(i) * strides[axis]);
    }
    all = std::move(longer);
  }
  return all;
}

// An array with guards, which begins some bytes after a line.
struct Array {
  Array(Random& random, const Strides& all, std::uint64_t w)
      : low(std::ranges::min(all)),
        memory(static_cast<std::size_t>(std::ranges::max(all) - low) + w,
               random.in(0, 1) * random.in(std::size_t{0}, std::size_t{63})) {}
  std::byte* first() { return memory.data() - low; }

  std::int64_t low;
  Guarded memory;
};

// Ten lines that do what the definition says; also tasks in any order, since any thread may do any of them.
void expect_moved(const Case& c, Random& random, const std::vector<unsigned>& numbers_of_threads) {
  const std::uint64_t w = c.source.element_bytes;
  const Strides from_all = places(c.source.extents, c.source.strides),
                to_all = places(c.target_extents(),
                                strides_of({c.target_extents(), w, Order::c, c.target_strides}));
  const Reordering order = transposition({c.source.extents, 1}, c.axes);
  Array source(random, from_all, w), target(random, to_all, w);
  random.fill(source.memory.memory().data(), source.memory.memory().size());
  std::vector<std::byte> untouched = target.memory.memory();
  for (std::uint64_t x = 0; x < from_all.size(); ++x)
    std::memcpy(target.first() + to_all[order.target_index(x)], source.first() + from_all[x], w);
  const std::vector<std::byte> expected = target.memory.memory();
  const InMemoryPlan plan(c.source, c.axes, c.target_strides);
  const auto check = [&](const std::string& by) {
    ASSERT_EQ(std::memcmp(target.memory.memory().data(), expected.data(), expected.size()), 0)
        << c.text() << ": " << plan.describe() << "; " << by;
    std::memcpy(target.memory.memory().data(), untouched.data(), untouched.size());
  };
  std::memcpy(target.memory.memory().data(), untouched.data(), untouched.size());
  for (const unsigned threads : numbers_of_threads) {
    plan.execute(source.first(), target.first(), threads);
    check(fmt::format("{} threads", threads));
    if (testing::Test::HasFatalFailure()) return;
  }
  const StridedCopy copy(c.source, c.axes, c.target_strides);
  const auto engine = make_engine(copy);
  std::vector<std::uint64_t> tasks(engine->tasks());
  std::iota(tasks.begin(), tasks.end(), 0);
  std::ranges::shuffle(tasks, random);
  for (const std::uint64_t task : tasks)
    engine->perform(task, task + 1, source.first() + copy.source_start, target.first() + copy.target_start);
  finish_streams();
  check("tasks in any order");
}

// Axes in any order, with gaps and signs, nested as they must be.
Strides any_strides(Random& random, const Extents& extents, std::uint64_t w) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (random.in(0, 2) != 0) std::ranges::shuffle(order, random);
  Strides strides(extents.size());
  auto reached = static_cast<std::int64_t>(w);
  const bool gaps = random.in(0, 3) != 0, inner_gap = random.in(0, 2) == 0, signs = random.in(0, 1) == 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::int64_t step = reached;
    if (gaps && (i != 0 || inner_gap) && random.in(0, 1) == 0) step += random.in(1, i == 0 ? 20 : 200);
    if (gaps && i != 0 && random.in(0, 9) == 0) step = (step + 4095) / 4096 * 4096;
    reached = step * (static_cast<std::int64_t>(extents[order[i]]) - 1) + reached;
    strides[order[i]] = signs && random.in(0, 2) == 0 ? -step : step;
  }
  return strides;
}

Case any_case(Random& random, std::uint64_t most_bytes) {
  Case c;
  const std::uint64_t w = random.in(0, 3) != 0   ? random.in(std::uint64_t{1}, std::uint64_t{17})
                          : random.in(0, 3) != 0 ? std::uint64_t{1} << random.in(0, 4)
                                                 : random.in(std::uint64_t{18}, std::uint64_t{700});
  c.source.element_bytes = w;
  std::uint64_t bytes = w;
  for (int axis = random.in(0, 5); axis > 0; --axis) {
    const std::uint64_t most = std::max<std::uint64_t>(1, most_bytes / bytes);
    const std::uint64_t longest[] = {3, 20, 90, 300, 3000};
    c.source.extents.push_back(
        random.in(std::uint64_t{1}, std::min(most, longest[random.in(std::size_t{0}, std::size_t{4})])));
    bytes *= c.source.extents.back();
  }
  std::ranges::shuffle(c.source.extents, random);
  c.axes.resize(c.source.extents.size());
  std::iota(c.axes.begin(), c.axes.end(), 0);
  std::ranges::shuffle(c.axes, random);
  c.source.strides = any_strides(random, c.source.extents, w);
  c.target_strides = any_strides(random, c.target_extents(), w);
  return c;
}

TEST(StridedInMemory, DoesWhatTheDefinitionSays) {
  Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    for (int i = 0; i < test::rounds(160); ++i) {
      SCOPED_TRACE(i);
      const auto caches = any_caches(random);
      const Case c = any_case(random, i % 16 == 0 ? 150'000 : 12'000);
      expect_moved(c, random, {1});
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

void expect_kind(const Case& c, const std::string& kind, Random& random,
                 const std::vector<unsigned>& numbers_of_threads) {
  const std::string plan = InMemoryPlan(c.source, c.axes, c.target_strides).describe();
  EXPECT_NE(plan.find(kind), std::string::npos) << c.text() << ": " << plan;
  expect_moved(c, random, numbers_of_threads);
}

TEST(StridedInMemory, PartsOfSmallArrays) {
  Random random;
  SEED_TRACE(random);
  const AssumedCaches caches({});
  with_every_instruction_set([&] {
    const auto expect = [&](const Case& c, const std::string& kind) { expect_kind(c, kind, random, {1}); };
    expect({{{80, 70}, 8, Order::c, {800, 8}}, {1, 0}, {8 * 91, 8}}, "columns, direct");
    expect({{{80, 70}, 8, Order::c, {-800, -8}}, {1, 0}, {8 * 91, 8}}, "columns, direct");
    expect({{{80, 70}, 8, Order::c, {800, -8}}, {1, 0}, {}}, "columns, direct");
    expect({{{80, 70}, 8, Order::c, {800, 8}}, {0, 1}, {8 * 91, 8}}, "records of 560");
    expect({{{80, 70}, 3, Order::c, {210, -3}}, {0, 1}, {}}, "lines of 70");
    expect({{{500, 5, 7}, 2, Order::c, {90, 16, 2}}, {0, 2, 1}, {}}, "axes: ");
  });
}

// Tiles of the first run are whole lines, those of the others are not.
TEST(StridedInMemory, RunsOfWholeLinesBeginAnywhere) {
  Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  with_every_instruction_set([&] {
    for (int i = 0; i < 8; ++i) {
      const std::int64_t gap = random.in(1, 80);
      expect_moved(
          {{{40, 2, 9, 2}, 8, Order::c, {176, 8, 6896, 16}}, {0, 1, 3, 2}, {8, 5958, 2880 + gap, 320}},
          random, {1});
      expect_moved({{{16, 80, 70}, 8, Order::c, {44800, 560, 8}}, {2, 0, 1}, {10880 + gap, 640 + gap % 9, 8}},
                   random, {1});
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// What users of tensors do most: each kind past the cache, by several threads.
TEST(StridedInMemory, PartsOfLargeArrays) {
  Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  const auto expect = [&](const Case& c, const std::string& kind) { expect_kind(c, kind, random, {1, 3}); };
  // The transposition of a part of a matrix into a part of another; also upside down and mirrored.
  expect({{{700, 600}, 8, Order::c, {8 * 1024, 8}}, {1, 0}, {8 * 900, 8}}, "by up to");
  expect({{{700, 600}, 8, Order::c, {-8 * 1024, -8}}, {1, 0}, {8 * 900, 8}}, "by up to");
  expect({{{1700, 1601}, 1, Order::c, {-1900, 1}}, {1, 0}, {-2000, 1}}, "by up to");
  expect({{{700, 1601}, 3, Order::c, {-6000, 3}}, {1, 0}, {2113, 3}}, "by up to");
  // Rows with a pitch: long, short, and longer than a task.
  expect({{{300, 8000}, 1, Order::c, {8190, 1}}, {0, 1}, {8200, 1}}, "records of 8000");
  expect({{{3000, 1000}, 1, Order::c, {1024, 1}}, {0, 1}, {1200, 1}}, "records of 1000");
  expect({{{90000, 24}, 1, Order::c, {32, 1}}, {0, 1}, {24, 1}}, "lines of 90000");
  expect({{{3, 1500001}, 1, Order::c, {-1600000, 1}}, {0, 1}, {1500003, 1}}, "records of 1500001");
  // Mirrored elements, also in rows, and every other one.
  for (const std::int64_t w : {3, 8}) {
    const auto size = static_cast<std::uint64_t>(w), count = 2'200'000 / size;
    expect({{{count}, size, Order::c, {-w}}, {0}, {w}}, "lines");
    expect({{{count / 40, 40}, size, Order::c, {40 * w, -w}}, {0, 1}, {40 * w, w}}, "lines of 40");
    expect({{{count / 500, 500}, size, Order::c, {1100 * w, 2 * w}}, {0, 1}, {500 * w, w}}, "lines of 500");
    expect({{{count / 500, 500}, size, Order::c, {1100 * w, 2 * w}}, {1, 0}, {}}, "lines");
  }
  // Colours of pixels: three of four become planes, and back.
  expect({{{500'000, 3}, 2, Order::c, {8, 2}}, {1, 0}, {}}, "");
  expect({{{3, 500'000}, 2, Order::c, {1'000'000, 2}}, {1, 0}, {8, 2}}, "lines");
}

TEST(StridedInMemory, TakesArraysWithoutGapsToo) {
  Random random;
  SEED_TRACE(random);
  const ArrayShape shape{{20, 3, 50}, 4, Order::fortran};
  const std::vector<int> axes{1, 2, 0};
  const auto source = test::random_bytes(random, 12'000);
  std::vector<std::byte> one(source.size()), other(source.size());
  InMemoryPlan(transposition(shape, axes)).execute(source.data(), one.data());
  const InMemoryPlan plan(shape, axes, {});
  EXPECT_EQ(plan.bytes(), source.size());
  plan.execute(source.data(), other.data());
  EXPECT_EQ(one, other);
  for (const Extents& extents : {Extents{0}, Extents{3, 0, 2}}) {  // nothing, with any strides
    const InMemoryPlan nothing({extents, 8, Order::c, Strides(extents.size(), 0)}, {}, {});
    nothing.execute(nullptr, nullptr);
    EXPECT_EQ(nothing.bytes(), 0u);
    EXPECT_FALSE(nothing.overlap(source.data(), source.data()));
  }
}

TEST(StridedInMemory, RefusesOverlaps) {
  const auto message = [](const ArrayShape& shape, const Strides& target) -> std::string {
    try {
      InMemoryPlan(shape, {}, target);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(message({{4, 6}, 8, Order::c, {0, 8}}, {}),
            "a source of shape (4, 6) with strides (0, 8) of 8 bytes: the elements overlap or interleave: a "
            "step along axis 0 is 0 bytes, but what lies within it takes 8");
  EXPECT_EQ(message({{4, 6}, 8, Order::c, {40, 8}}, {}),
            "a source of shape (4, 6) with strides (40, 8) of 8 bytes: the elements overlap or interleave: a "
            "step along axis 0 is 40 bytes, but what lies within it takes 48");
  EXPECT_EQ(
      message({{4, 6}, 8}, {-8, 32}),
      "a target of shape (6, 4) with strides (-8, 32) of 8 bytes: the elements overlap or interleave: a "
      "step along axis 1 is 32 bytes, but what lies within it takes 48");
  EXPECT_EQ(message({{4, 6}, 8, Order::c, {48}}, {}),
            "a source of shape (4, 6) with strides (48) of 8 bytes: each axis needs one stride");
  EXPECT_EQ(
      message({{4, 6}, 8, Order::c, {std::int64_t{1} << 62, 8}}, {}),
      "a source of shape (4, 6) with strides (4611686018427387904, 8) of 8 bytes: it reaches 2^63 bytes "
      "or more");
  EXPECT_EQ(message({{1, 6}, 8, Order::c, {INT64_MIN, 8}}, {}), "taken");
  EXPECT_EQ(message({{4, 6}, 8, Order::c, {-48, 8}}, {-32, -8}), "taken");
  std::byte array[8];
  const InMemoryPlan plan({{4}, 2, Order::c, {-2}}, {}, {});
  EXPECT_THROW(plan.execute_in_place(array), InputError);
  EXPECT_THROW(plan.describe_in_place(), InputError);
}

// Compared with sets of bytes. It may say so of arrays that interleave in another way, but not of two parts of
// one array.
TEST(StridedInMemory, KnowsWhatOverlaps) {
  Random random;
  SEED_TRACE(random);
  std::vector<std::byte> memory(1 << 20);
  int interleaved = 0;
  for (int i = 0; i < 3000; ++i) {
    Case c;
    const std::uint64_t w = random.in(1u, 3u);
    c.source.element_bytes = w;
    for (int axis = random.in(0, 3); axis > 0; --axis) c.source.extents.push_back(random.in(1u, 4u));
    c.axes.resize(c.source.extents.size());
    std::iota(c.axes.begin(), c.axes.end(), 0);
    c.source.strides = any_strides(random, c.source.extents, w);
    const bool parts = random.in(0, 1) == 0;
    c.target_strides = parts ? c.source.strides : any_strides(random, c.source.extents, w);
    const std::byte* const from = memory.data() + (1 << 19);
    const Strides from_all = places(c.source.extents, c.source.strides),
                  to_all = places(c.target_extents(), c.target_strides);
    const std::int64_t far = std::ranges::max(from_all) - std::ranges::min(from_all) + 10;
    const std::byte* const to = from + random.in(-far, far);
    std::set<const std::byte*> bytes;
    for (const std::int64_t at : from_all) {
      for (std::uint64_t byte = 0; byte < w; ++byte) bytes.insert(from + at + byte);
    }
    const bool common = std::ranges::any_of(
        to_all, [&](std::int64_t at) { return bytes.contains(to + at) || bytes.contains(to + at + w - 1); });
    const bool said = InMemoryPlan(c.source, c.axes, c.target_strides).overlap(from, to);
    ASSERT_TRUE(parts ? said == common : said || !common) << c.text() << ", " << to - from;
    const auto [low, high] = std::ranges::minmax(from_all);
    const auto [to_low, to_high] = std::ranges::minmax(to_all);
    if (!said && to + to_low <= from + high && from + low <= to + to_high) ++interleaved;
  }
  EXPECT_GT(interleaved, 50);
  // Halves of one matrix, side by side and in turn.
  const InMemoryPlan halves({{10, 5}, 8, Order::c, {80, 8}}, std::vector{0, 1}, {80, 8});
  EXPECT_FALSE(halves.overlap(memory.data(), memory.data() + 40));
  EXPECT_FALSE(halves.overlap(memory.data() + 40, memory.data()));
  EXPECT_TRUE(halves.overlap(memory.data(), memory.data() + 39));
  EXPECT_TRUE(halves.overlap(memory.data(), memory.data() + 80 + 8));
  EXPECT_FALSE(halves.overlap(memory.data(), memory.data() + 800));
}

}  // namespace
}  // namespace xorder::memory
