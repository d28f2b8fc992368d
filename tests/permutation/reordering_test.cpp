#include "xorder/permutation/reordering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "permutation/random_reordering.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder {
namespace {

using gf2::AffineMap;
using test::Random;
using test::random_axes;
using test::random_reordering;
using test::random_shape;
using Extents = std::vector<std::uint64_t>;
using Indices = std::vector<std::uint64_t>;

Indices target_indices(const Reordering& r) {
  Indices target(r.elements());
  for (std::uint64_t x = 0; x < target.size(); ++x) target[x] = r.target_index(x);
  return target;
}

// The letters a, b, c, ... as the file holds them afterwards.
std::string moved_letters(const Reordering& r) {
  std::string target(r.elements(), '?');
  for (std::uint64_t x = 0; x < target.size(); ++x) target[r.target_index(x)] = static_cast<char>('a' + x);
  return target;
}

// Calls f with every multi-index of `extents`, in C order, which is the order of the target's linear indices.
void for_each_index(const Extents& extents, const std::function<void(const Indices&)>& f) {
  const auto count = std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
  Indices at(extents.size(), 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    f(at);
    for (std::size_t axis = extents.size(); axis-- > 0 && ++at[axis] == extents[axis];) at[axis] = 0;
  }
}

// Where a[at] lies in the array's file, by strides: the definition of C and Fortran order.
std::uint64_t offset_in_file(const ArrayShape& shape, const Indices& at) {
  std::uint64_t offset = 0;
  std::uint64_t stride = 1;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t axis = shape.order == Order::fortran ? i : at.size() - 1 - i;
    offset += at[axis] * stride;
    stride *= shape.extents[axis];
  }
  return offset;
}

// target[source index], from numpy's definition: transposed[at] = a[.. at[j] in place axes[j] ..].
Indices transposition_by_strides(const ArrayShape& shape, const std::vector<int>& axes) {
  Extents extents;
  for (const int axis : axes) extents.push_back(shape.extents[axis]);
  Indices target(shape.extents.empty() ? 1 : checked_bytes({shape.extents, 1}));
  std::uint64_t next = 0;
  for_each_index(extents, [&](const Indices& at) {
    Indices source(at.size());
    for (std::size_t j = 0; j < at.size(); ++j) source[axes[j]] = at[j];
    target[offset_in_file(shape, source)] = next++;
  });
  return target;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no exception";
}

// Example 1 in the header: f, at (1, 2), goes to (2, 1) of a 3 × 2 array.
TEST(Reordering, TheHeadersExamples) {
  const Reordering transposed = transposition({{2, 3}}, {});
  EXPECT_EQ(moved_letters(transposed), "adbecf");
  EXPECT_EQ(transposed.target_index(5), 5u);
  EXPECT_EQ(transposed.target_index(1), 2u);

  const Reordering reversed = mapping_along({{2, 4}}, 1, bmmc::bit_reverse(2));
  EXPECT_EQ(moved_letters(reversed), "acbdegfh");

  const Reordering fortran = mapping_along({{2, 3}, 1, Order::fortran}, 0, bmmc::identity(1));
  EXPECT_EQ(fortran.extents, (Extents{3, 2}));
  EXPECT_EQ(fortran.order, (std::vector{1, 0}));
  // The file holds a[0,0] a[1,0] a[0,1] a[1,1] a[0,2] a[1,2]; row 0 first: a c e, then b d f.
  EXPECT_EQ(moved_letters(fortran), "acebdf");

  const Reordering folded = canonical(transposition({{10, 20, 3, 8}}, std::vector{1, 0, 2, 3}));
  EXPECT_EQ(folded.element_bytes, 24u);
  EXPECT_EQ(folded.extents, (Extents{10, 20}));
}

// numpy.transpose(a, (2, 0, 1)) of shape (2, 3, 4): the result has shape (4, 2, 3), and b[k, i, j] = a[i, j,
// k]. So a[1, 2, 3], the last of 24 at index 23, goes to b[3, 1, 2]: (3·2 + 1)·3 + 2 = 23. a[0, 1, 2], at 1·4
// + 2 = 6, goes to b[2, 0, 1]: (2·2 + 0)·3 + 1 = 13.
TEST(Reordering, NumpysTransposeByHand) {
  const ArrayShape shape{{2, 3, 4}};
  const std::vector axes{2, 0, 1};
  EXPECT_EQ(transposed_extents(shape, axes), (Extents{4, 2, 3}));
  EXPECT_EQ(transposition(shape, axes).target_index(23), 23u);
  EXPECT_EQ(transposition(shape, axes).target_index(6), 13u);
  EXPECT_EQ(transposition(shape, std::vector{-1, 0, -2}), transposition(shape, axes));
}

TEST(Reordering, TranspositionIsNumpys) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 300; ++trial) {
    const ArrayShape shape = random_shape(random, false);
    const std::vector<int> axes = random_axes(random, shape.extents.size());
    std::vector<int> given = axes;
    for (int& axis : given) axis -= random.in(0, 1) ? static_cast<int>(axes.size()) : 0;
    EXPECT_EQ(target_indices(transposition(shape, given)), transposition_by_strides(shape, axes));
  }
}

TEST(Reordering, NoAxesMeansReversed) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 50; ++trial) {
    const ArrayShape shape = random_shape(random, false);
    std::vector<int> reversed(shape.extents.size());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    EXPECT_EQ(transposition(shape, {}), transposition(shape, reversed));
    // Reversing the axes of a Fortran-ordered array leaves the file as it is.
    const Reordering fortran = transposition({shape.extents, shape.element_bytes, Order::fortran}, {});
    EXPECT_TRUE(std::ranges::is_sorted(target_indices(fortran)));
  }
}

TEST(Reordering, InverseTranspositionRestores) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 50; ++trial) {
    ArrayShape shape = random_shape(random, false);
    shape.order = Order::c;
    const std::vector<int> axes = random_axes(random, shape.extents.size());
    std::vector<int> inverse(axes.size());
    for (std::size_t j = 0; j < axes.size(); ++j) inverse[axes[j]] = static_cast<int>(j);
    const Reordering there = transposition(shape, axes);
    const Reordering back = transposition({transposed_extents(shape, axes), shape.element_bytes}, inverse);
    for (std::uint64_t x = 0; x < there.elements(); ++x)
      EXPECT_EQ(back.target_index(there.target_index(x)), x);
  }
}

TEST(Reordering, MappingAlongMapsOneCoordinate) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 300; ++trial) {
    ArrayShape shape = random_shape(random, false);
    if (shape.extents.empty()) continue;
    const int rank = static_cast<int>(shape.extents.size());
    const int axis = random.in(0, rank - 1);
    shape.extents[axis] = std::uint64_t{1} << random.in(0, 3);
    const AffineMap map = test::random_bmmc(random, std::countr_zero(shape.extents[axis]));
    const Reordering r = mapping_along(shape, random.in(0, 1) ? axis : axis - rank, map);
    const ArrayShape target{shape.extents, shape.element_bytes, Order::c};
    for_each_index(shape.extents, [&](const Indices& at) {
      Indices moved = at;
      moved[axis] = map(at[axis]);
      ASSERT_EQ(r.target_index(offset_in_file(shape, at)), offset_in_file(target, moved));
    });
  }
}

TEST(Reordering, MappingOfAllMapsTheFlatIndex) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 300; ++trial) {
    const ArrayShape shape = random_shape(random, true);
    int n = 0;
    for (const std::uint64_t e : shape.extents) n += std::countr_zero(e);
    const AffineMap map = test::random_bmmc(random, n);
    const Reordering r = mapping_of_all(shape, map);
    EXPECT_EQ(r.extents.size(), 1u);
    std::uint64_t flat = 0;
    for_each_index(shape.extents, [&](const Indices& at) {
      ASSERT_EQ(r.target_index(offset_in_file(shape, at)), map(flat++));
    });
  }
}

TEST(Reordering, EveryIndexExactlyOnce) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 300; ++trial) {
    Indices target = target_indices(random_reordering(random));
    std::ranges::sort(target);
    for (std::uint64_t i = 0; i < target.size(); ++i) ASSERT_EQ(target[i], i);
  }
}

TEST(Reordering, FlatMapIsTheSamePermutation) {
  Random random;
  SEED_TRACE(random);
  for (int trial = 0; trial < 300; ++trial) {
    const Reordering r = random_reordering(random);
    const auto flat = flat_map(r);
    ASSERT_EQ(flat.has_value(),
              std::ranges::all_of(r.extents, [](auto e) { return std::has_single_bit(e); }));
    for (std::uint64_t x = 0; flat && x < r.elements(); ++x) ASSERT_EQ((*flat)(x), r.target_index(x));
  }
  EXPECT_EQ(flat_map(transposition({{8, 32}}, {})), bmmc::transpose(3, 5));
}

TEST(ReorderingErrors, CheckedBytes) {
  const std::uint64_t half = std::uint64_t{1} << 31;
  EXPECT_EQ(checked_bytes({{}, 8}), 8u);
  EXPECT_EQ(checked_bytes({{half, half}, 1}), half * half);
  EXPECT_EQ(checked_bytes({{half, 0, 3}, 8}), 0u);
  EXPECT_THROW(checked_bytes({{half, half, half, 0}, 8}), InputError) << "NumPy has no such empty array";
  EXPECT_THROW(checked_bytes({{0, ~std::uint64_t{0}}, 1}), InputError);
  EXPECT_EQ(message_of([&] {
              checked_bytes({{half, half}, 2});
            }),
            "shape (2147483648, 2147483648) of 2-byte elements; expected less than 2^63 bytes in total");
  EXPECT_THROW(checked_bytes({{half, half, half, half}, 1}), InputError) << "2^124 overflows to 0";
  EXPECT_THROW(checked_bytes({{~std::uint64_t{0}}, 1}), InputError);
  EXPECT_THROW(checked_bytes({{4}, 0}), InputError);
  EXPECT_THROW(transposition({{half, half}, 2}, {}), InputError);
  EXPECT_THROW(mapping_along({{half, half}, 2}, 0, bmmc::gray(31)), InputError);
  EXPECT_THROW(mapping_of_all({{half, half}, 2}, bmmc::gray(62)), InputError);
}

TEST(ReorderingErrors, Axes) {
  const ArrayShape shape{{2, 3, 4}};
  const auto transpose = [&](std::vector<int> axes) {
    return message_of([&] { transposition(shape, axes); });
  };
  EXPECT_EQ(transpose({0, 1}), "axes 0,1: 2 given, but the array has 3");
  EXPECT_EQ(transpose({0, 1, -2}), "the axes 0,1,-2 name axis 1 twice");
  EXPECT_EQ(transpose({0, 1, 3}), "there is no axis 3: the array has 3, 0 to 2 (or -3 to -1)");
  EXPECT_EQ(transpose({0, 1, -4}), "there is no axis -4: the array has 3, 0 to 2 (or -3 to -1)");
  EXPECT_EQ(message_of([] { transposition({{}}, std::vector{0}); }), "axes 0: 1 given, but the array has 0");
  EXPECT_EQ(message_of([] { checked_axis(-1, 0); }), "there is no axis -1: the array has no axes");
  EXPECT_EQ(message_of([&] { mapping_along(shape, 3, bmmc::gray(2)); }), transpose({0, 1, 3}));
  EXPECT_EQ(checked_axis(-3, 3), 0);
  EXPECT_EQ(checked_axis(2, 3), 2);
}

TEST(ReorderingErrors, Maps) {
  EXPECT_EQ(message_of([] {
              mapping_along({{2, 12}}, -1, bmmc::gray(3));
            }),
            "axis 1 has 12 elements, but the permutation needs 2^3");
  EXPECT_EQ(message_of([] {
              mapping_of_all({{2, 12}}, bmmc::gray(3));
            }),
            "the array has 24 elements, but the permutation needs 2^3");
  EXPECT_EQ(message_of([] {
              mapping_of_all({{4}}, {gf2::BitMatrix(2, {1, 1}), 0});
            }),
            "the matrix is singular: its rank is 1, not 2");
  EXPECT_THROW(mapping_of_all({{4}}, {gf2::BitMatrix::identity(2), 4}), InputError);
  EXPECT_THROW(mapping_of_all({{0, 4}}, bmmc::gray(2)), InputError);
}

TEST(ReorderingErrors, PowersOfTwo) {
  EXPECT_EQ(exact_lg(1, "x"), 0);
  EXPECT_EQ(exact_lg(std::uint64_t{1} << 63, "x"), 63);
  EXPECT_EQ(message_of([] { exact_lg(12, "the extent of axis 1"); }),
            "the extent of axis 1 is 12, which is not a power of two; the nearest are 8 and 16");
  EXPECT_EQ(message_of([] { exact_lg(0, "x"); }), "x is 0, which is not a power of two; the nearest is 1");
  EXPECT_EQ(message_of([] { exact_lg(~std::uint64_t{0}, "x"); }),
            "x is 18446744073709551615, which is not a power of two; the nearest is 9223372036854775808");
}

TEST(ReorderingErrors, CheckSeesWhatDoesNotFitTogether) {
  const Reordering good{1, {2, 4}, {1, 0}, 1, bmmc::gray(2)};
  EXPECT_NO_THROW(check(good));
  Reordering r = good;
  r.order = {0, 0};
  EXPECT_THROW(check(r), InputError);
  r.order = {0};
  EXPECT_THROW(canonical(r), InputError);
  r = good;
  r.mapped = 0;
  EXPECT_THROW(check(r), InputError);
  r.mapped = 2;
  EXPECT_THROW(check(r), InputError);
  r = good;
  r.map.matrix = gf2::BitMatrix::zero(2, 2);
  EXPECT_THROW(check(r), InputError);
  r = good;
  r.element_bytes = 0;
  EXPECT_THROW(check(r), InputError);
}

// Its axes joined and cut in two at random.
Extents reshaped(Random& random, Extents extents) {
  for (int times = random.in(0, 3); times > 0 && !extents.empty(); --times) {
    const std::size_t i = random.in(std::size_t{0}, extents.size() - 1);
    const auto at = extents.begin() + static_cast<std::ptrdiff_t>(i);
    std::uint64_t slow = random.in(std::uint64_t{1}, std::max<std::uint64_t>(extents[i], 1));
    if (random.in(0, 1) == 0 && i + 1 < extents.size()) {
      *at *= at[1];
      extents.erase(at + 1);
    } else if (extents[i] % slow == 0) {
      *at /= slow;
      extents.insert(at, slow);
    }
  }
  return extents;
}

TEST(StoredIn, IsATranspositionOfTheResult) {
  Random random;
  SEED_TRACE(random);
  int done = 0;
  for (int i = 0; i < 2000; ++i) {
    const Reordering r = random_reordering(random);
    Extents extents;
    for (const int axis : r.order) extents.push_back(r.extents[axis]);
    extents = reshaped(random, extents);
    const std::vector<int> axes = random_axes(random, extents.size());
    const Reordering then = transposition({extents, r.element_bytes, Order::c}, axes);
    Reordering stored;
    try {
      stored = stored_in(axes, r, extents);
    } catch (const InputError& error) {
      ASSERT_THAT(error.what(), testing::HasSubstr("not that of its axes"));
      continue;
    }
    ++done;
    check(stored);
    Indices expected = target_indices(r);
    for (std::uint64_t& target : expected) target = then.target_index(target);
    ASSERT_EQ(target_indices(stored), expected);
  }
  EXPECT_GT(done, 1000);
}

}  // namespace
}  // namespace xorder
