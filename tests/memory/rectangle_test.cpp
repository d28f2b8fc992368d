// Matrices of any shape, in place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "memory/expect_permuted.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/slot_cycles.hpp"
#include "memory/small_caches.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"

namespace xorder::memory {
namespace {

TEST(Rectangle, DividesByMultiplying) {
  test::Random random;
  SEED_TRACE(random);
  constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t d = std::max<std::uint64_t>(1, (random() & most) >> random.in(0, 62));
    const Divider by(d);
    const std::uint64_t x = (random() & most) >> random.in(0, 62);
    for (const std::uint64_t of : {x, x / d * d, x / d * d - (x >= d ? 1 : 0), most, std::uint64_t{0}})
      ASSERT_EQ(by(of), of / d) << of << " / " << d;
  }
}

// Every slot gets the content that it has in the transposed matrix, once; those that stay, none.
TEST(Rectangle, ArcsAndShortCyclesMoveEachSlotOnce) {
  test::Random random;
  SEED_TRACE(random);
  std::uint64_t all_arcs = 0, all_short = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t rows = random.in(std::uint64_t{1}, std::uint64_t{150});
    const std::uint64_t columns = i % 5 == 0 ? rows : random.in(std::uint64_t{1}, std::uint64_t{150});
    const SlotCycles cycles(rows, columns);
    std::vector<std::uint64_t> content(rows * columns, ~std::uint64_t{0});
    const auto follow = [&](std::uint64_t slot, std::uint64_t end) {
      for (;; slot = content[slot]) {
        ASSERT_EQ(content[slot], ~std::uint64_t{0}) << slot << " twice";
        content[slot] = cycles.source_of(slot);
        if (content[slot] == end) return;
      }
    };
    for (const auto& arc : cycles.arcs()) follow(arc.first, cycles.arcs()[arc.next].first);
    all_arcs += cycles.arcs().size();
    EXPECT_LE(cycles.arcs().size(), rows * columns / 128);
    for (std::uint64_t stretch = 0; stretch < cycles.short_stretches(); ++stretch) {
      cycles.for_short(stretch, [&](std::uint64_t first) {
        follow(first, first);
        ++all_short;
      });
    }
    for (std::uint64_t slot = 0; slot < rows * columns; ++slot) {
      const std::uint64_t source = slot % rows * columns + slot / rows;
      ASSERT_EQ(cycles.source_of(slot), source);
      ASSERT_EQ(content[slot], source == slot ? ~std::uint64_t{0} : source) << rows << " x " << columns;
    }
  }
  EXPECT_GT(all_arcs, 1000u);
  EXPECT_GT(all_short, 1000u);
}

// By the engines themselves, also where other ways are faster. False if there are none.
bool is_permuted(const Reordering& what, test::Random& random, unsigned threads) {
  const auto engines = make_rectangle_engines(canonical(what));
  if (engines.empty()) return false;
  for (const auto& engine : engines)
    EXPECT_LE(engine->needs().shared, what.bytes() / 14) << engine->describe();
  const auto data = test::random_bytes(random, what.bytes());
  test::Guarded array(data.size(), random.in(0, 1) == 0 ? 0 : random.in(std::size_t{0}, std::size_t{63}));
  std::ranges::copy(data, array.data());
  auto expected = array.memory();
  std::ranges::copy(test::performed(what, data),
                    expected.begin() + static_cast<std::ptrdiff_t>(array.offset()));
  for (const auto& engine : engines) {
    Workspace workspace(engine->needs(), threads);
    engine->perform(array.data(), threads, workspace);
  }
  EXPECT_TRUE(array.memory() == expected) << engines.front()->describe() << "; threads " << threads;
  return true;
}

TEST(Rectangle, IsTransposed) {
  test::Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  int done = 0;
  for (int i = 0; i < (test::sanitized ? 60 : 300) && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t w = random.in(0, 3) == 0 ? random.in(std::uint64_t{1}, std::uint64_t{700})
                                                 : random.in(std::uint64_t{1}, std::uint64_t{20});
    const std::uint64_t elements = (std::uint64_t{1} << random.in(10, 20)) / w + 6;
    const std::uint64_t one = random.in(std::uint64_t{2}, elements / 3),
                        other = std::max<std::uint64_t>(2, elements / one);
    const std::uint64_t few = random.in(std::uint64_t{1}, std::uint64_t{3});
    const std::vector<Reordering> whats = {
        transposition({{one, other}, w, Order::c}, {}),
        transposition({{few, one, other}, w, Order::c}, std::vector<int>{0, 2, 1}),
        transposition({{one, other, few}, w, Order::c}, std::vector<int>{1, 0, 2}),
        transposition({{one, few, other}, w, Order::c}, std::vector<int>{2, 1, 0}),
        transposition({{few, one, other}, w, Order::c}, std::vector<int>{2, 1, 0}),
        transposition({{one, few, other}, w, Order::c}, std::vector<int>{1, 2, 0})};
    const Reordering& what = whats[random.in(std::size_t{0}, whats.size() - 1)];
    SCOPED_TRACE(testing::Message() << i << ": " << one << ", " << other << ", " << few << " of " << w);
    done += is_permuted(what, random, random.in(1u, 3u)) ? 1 : 0;
  }
  EXPECT_GE(done, test::sanitized ? 10 : 60);
}

// Large enough for threads, panels put aside, and arcs; the last ones have elements of several blocks.
TEST(Rectangle, LargeOnes) {
  test::Random random;
  SEED_TRACE(random);
  for (const Reordering& what :
       {transposition({{2011, 1013}, 3, Order::c}, {}), transposition({{700, 1999}, 8, Order::c}, {}),
        transposition({{5, 1 << 18}, 4, Order::c}, {}), transposition({{300'007, 3}, 4, Order::c}, {}),
        transposition({{7, 11}, 150'000, Order::c}, {}), transposition({{6, 2, 5}, 70'001, Order::c}, {})}) {
    for (const unsigned threads : {1u, 3u}) ASSERT_TRUE(is_permuted(what, random, threads));
  }
}

}  // namespace
}  // namespace xorder::memory
