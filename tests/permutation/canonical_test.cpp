#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "permutation/random_reordering.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder {
namespace {

using gf2::AffineMap;
using test::Random;
using test::random_reordering;
using Extents = std::vector<std::uint64_t>;

// Where each single byte goes.
std::vector<std::uint64_t> target_bytes(const Reordering& r) {
  std::vector<std::uint64_t> target;
  for (std::uint64_t x = 0; x < r.elements(); ++x) {
    for (std::uint64_t byte = 0; byte < r.element_bytes; ++byte)
      target.push_back(r.target_index(x) * r.element_bytes + byte);
  }
  return target;
}

TEST(Canonical, MovesTheSameBytes) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 2000; ++trial) {
    const Reordering r = random_reordering(random);
    const Reordering c = canonical(r);
    ASSERT_EQ(c.bytes(), r.bytes());
    ASSERT_EQ(target_bytes(c), target_bytes(r)) << trial;
  }
}

// What plans may rely on.
TEST(Canonical, IsAsSimpleAsItSays) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 2000; ++trial) {
    const Reordering c = canonical(random_reordering(random));
    EXPECT_EQ(canonical(c), c);
    EXPECT_NO_THROW(check(c));
    ASSERT_GE(c.extents.size(), 1u);
    if (c.elements() <= 1) {
      EXPECT_EQ(c.extents.size(), 1u);
    }
    if (c.extents.size() > 1) {
      EXPECT_EQ(std::ranges::count(c.extents, 1u), 0);
    }
    if (c.mapped) {
      EXPECT_FALSE(c.map.is_identity());
    } else {
      EXPECT_EQ(c.map, AffineMap());
    }
    for (std::size_t i = 0; i + 1 < c.order.size(); ++i) {
      const int axis = c.order[i];
      EXPECT_TRUE(c.order[i + 1] != axis + 1 || c.mapped == axis || c.mapped == axis + 1) << "not merged";
    }
    const bool powers_of_two = std::ranges::all_of(c.extents, [](auto e) { return std::has_single_bit(e); });
    if (c.mapped && powers_of_two) {
      EXPECT_TRUE(std::ranges::is_sorted(c.order));
    }
    const int last = static_cast<int>(c.extents.size()) - 1;
    EXPECT_TRUE(last == 0 || c.order.back() != last || c.mapped == last)
        << "the element is not as large as can be";
  }
}

TEST(Canonical, MergesAndFoldsByHand) {
  // (2, 3, 4, 5) -> (3, 4, 2, 5): 3 and 4 stay neighbours, 5 stays fastest and joins the 8-byte element.
  Reordering r = canonical(transposition({{2, 3, 4, 5}, 8}, std::vector{1, 2, 0, 3}));
  EXPECT_EQ(r, (Reordering{40, {2, 12}, {1, 0}, {}, {}}));
  // An extent of 1 separates nothing.
  r = canonical(transposition({{2, 1, 3}, 8}, std::vector{1, 0, 2}));
  EXPECT_EQ(r, (Reordering{48, {1}, {0}, {}, {}}));
  // A column becomes a row: the same bytes.
  r = canonical(transposition({{100'000, 1}, 8}, {}));
  EXPECT_EQ(r, (Reordering{8, {100'000}, {0}, {}, {}}));
  // 8192 · 8 bytes = 64 KiB are folded, one more is not.
  r = canonical(transposition({{7, 9, 8192}, 8}, std::vector{1, 0, 2}));
  EXPECT_EQ(r, (Reordering{65536, {7, 9}, {1, 0}, {}, {}}));
  r = canonical(transposition({{7, 9, 8193}, 8}, std::vector{1, 0, 2}));
  EXPECT_EQ(r, (Reordering{8, {7, 9, 8193}, {1, 0, 2}, {}, {}}));
}

TEST(Canonical, KeepsBatchesAroundAMap) {
  const AffineMap reversal = bmmc::bit_reverse(4);
  // (3, 5) is one batch, (3, 2) one element.
  const Reordering r = canonical(mapping_along({{3, 5, 16, 3, 2}, 1}, 2, reversal));
  EXPECT_EQ(r, (Reordering{6, {15, 16}, {0, 1}, 1, reversal}));
  // Powers of two make no difference as long as nothing moves.
  EXPECT_EQ(canonical(mapping_along({{8, 16}, 4}, 1, reversal)),
            (Reordering{4, {8, 16}, {0, 1}, 1, reversal}));
  // A map along an axis of 1 element is none.
  EXPECT_EQ(canonical(mapping_along({{6, 1}, 4}, 1, bmmc::gray(0))), (Reordering{24, {1}, {0}, {}, {}}));
  EXPECT_EQ(canonical(mapping_along({{6, 4}, 4}, 1, bmmc::identity(2))), (Reordering{96, {1}, {0}, {}, {}}));
}

TEST(Canonical, FlattensAMapWithAxesThatMove) {
  // A Fortran-ordered (4, 16): its file is 16 × 4 in C order. In the flat source index axis 1 has the high 4
  // bits and axis 0 the low 2; in the target they change places, and the former have been reversed.
  const ArrayShape fortran{{4, 16}, 8, Order::fortran};
  const AffineMap reversal = bmmc::bit_reverse(4);
  const Reordering r = canonical(mapping_along(fortran, 1, reversal));
  EXPECT_EQ(r, (Reordering{8, {64}, {0}, 0, bmmc::bits(std::vector{5, 4, 3, 2, 0, 1})}));
  // A batch in front of it can be of any extent.
  Reordering batch{8, {3, 4, 2}, {0, 2, 1}, 2, bmmc::reverse(1)};
  EXPECT_EQ(canonical(batch).extents, (Extents{3, 8}));
  EXPECT_EQ(canonical(batch).map, (AffineMap{bmmc::transpose(2, 1).matrix, 4}));
  // With an extent that is no power of two among those that move, the map stays with its axis.
  batch.extents = {3, 5, 2};
  EXPECT_EQ(canonical(batch), batch);
}

TEST(Canonical, EmptyArraysHaveOneEmptyAxis) {
  const Reordering empty{8, {0}, {0}, {}, {}};
  EXPECT_EQ(canonical(transposition({{0}, 8}, {})), empty);
  EXPECT_EQ(canonical(transposition({{3, 0, 5}, 8}, {})), empty);
  EXPECT_EQ(canonical(mapping_along({{0, 4}, 8}, 1, bmmc::gray(2))), empty);
  EXPECT_EQ(canonical(mapping_along({{0, 4}, 8, Order::fortran}, 1, bmmc::gray(2))), empty);
  EXPECT_EQ(canonical(empty), empty);
  const std::uint64_t huge = std::uint64_t{1} << 29;
  EXPECT_EQ(canonical(transposition({{huge, huge, 0}, 8}, {})), empty);
}

TEST(Canonical, AScalarIsOneElement) {
  EXPECT_EQ(canonical(transposition({{}, 8}, {})), (Reordering{8, {1}, {0}, {}, {}}));
  EXPECT_EQ(canonical(mapping_of_all({{}, 8}, bmmc::reverse(0))), (Reordering{8, {1}, {0}, {}, {}}));
}

TEST(Canonical, HandlesTheLargestArrays) {
  const std::uint64_t half = std::uint64_t{1} << 31;
  EXPECT_EQ(canonical(transposition({{half, half}, 1}, {})).extents, (Extents{half, half}));
  const Reordering all = canonical(mapping_of_all({{half, half}, 1, Order::fortran}, bmmc::gray(62)));
  EXPECT_EQ(all.map, bmmc::gray(62) * bmmc::transpose(31, 31));
  EXPECT_EQ(all.target_index(1), bmmc::gray(62)(half));
}

}  // namespace
}  // namespace xorder
