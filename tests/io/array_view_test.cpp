// Views against what they mean: the file positions of all bytes of all elements.
#include "xorder/io/array_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "seed.hpp"

namespace xorder::io {
namespace {

using std::int64_t;
using std::uint64_t;
using Positions = std::vector<uint64_t>;

// Of the bytes of all elements in C order.
Positions positions(const ArrayDescription& array) {
  Positions places{array.offset};
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    Positions next;
    for (const uint64_t place : places) {
      for (uint64_t i = 0; i < array.extents[axis]; ++i)
        next.push_back(place + i * static_cast<uint64_t>(array.strides[axis]));
    }
    places = std::move(next);
  }
  Positions bytes;
  for (const uint64_t place : places) {
    if (array.pieces.empty())
      for (uint64_t b = 0; b < array.dtype.bytes; ++b) bytes.push_back(place + b);
    for (const ElementPiece& piece : array.pieces) {
      const uint64_t number = piece.reversed;
      for (uint64_t b = 0; b < piece.bytes; ++b)
        bytes.push_back(place + piece.offset + b / number * number + (number - 1 - b % number));
    }
  }
  return bytes;
}

ArrayDescription array_of(const char* descr, uint64_t bytes, std::vector<uint64_t> extents,
                          Order order = Order::c) {
  return ArrayDescription::contiguous({bytes, descr}, std::move(extents), order, 100);
}

std::string refusal_of(const auto& view) {
  try {
    view();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

constexpr Index slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                      std::optional<int64_t> step = {}) {
  return {Index::Kind::slice, start, stop, step};
}
constexpr Index at(int64_t i) { return {Index::Kind::integer, i, {}, {}}; }
constexpr Index ellipsis{Index::Kind::ellipsis, {}, {}, {}};

// As Python's range(*slice(..).indices(n)), by trying all coordinates in their order.
std::vector<int64_t> chosen(const Index& s, int64_t n) {
  const int64_t step = s.step.value_or(1);
  const auto clip = [&](int64_t i, int64_t low, int64_t high) {
    return std::clamp(i < 0 ? i + n : i, low, high);
  };
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  const int64_t start = s.start ? clip(*s.start, low, high) : step < 0 ? high : low;
  const int64_t stop = s.stop ? clip(*s.stop, low, high) : step < 0 ? low : high;
  std::vector<int64_t> list;
  for (int64_t i = start; step < 0 ? i > stop : i < stop; i += step) list.push_back(i);
  return list;
}

TEST(ArrayView, SlicesSelectWhatPythonSelects) {
  test::Random random;
  SEED_TRACE(random);
  const auto maybe = [&]() -> std::optional<int64_t> {
    if (random.in(0, 3) == 0) return std::nullopt;
    return random.in(-9, 9);
  };
  for (int i = 0; i < 3000; ++i) {
    const auto n = random.in(uint64_t{0}, uint64_t{7});
    Index s = slice(maybe(), maybe(), maybe());
    if (s.step == 0) s.step = std::nullopt;
    const ArrayDescription array = selected(array_of("'|u1'", 1, {n}), std::vector{s});
    Positions expected;
    for (const int64_t c : chosen(s, static_cast<int64_t>(n)))
      expected.push_back(100 + static_cast<uint64_t>(c));
    ASSERT_EQ(positions(array), expected)
        << n << ": " << s.start.value_or(99) << ":" << s.stop.value_or(99) << ":" << s.step.value_or(1);
  }
}

TEST(ArrayView, IndicesDropAxesAndEllipsesFillUp) {
  const ArrayDescription array = array_of("'<u2'", 2, {3, 4, 5});
  EXPECT_EQ(selected(array, std::vector{ellipsis, at(-1)}).extents, (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(selected(array, std::vector{at(1)}).extents, (std::vector<uint64_t>{4, 5}));
  EXPECT_EQ(selected(array, std::vector{at(1)}).offset, 140u);
  EXPECT_EQ(selected(array, std::vector{at(1), ellipsis, slice({}, {}, -2)}).strides,
            (std::vector<int64_t>{10, -4}));
  EXPECT_EQ(selected(array, std::vector{at(2), at(3), at(4)}).offset, 100u + 2 * 59);
  EXPECT_EQ(selected(array, {}).strides, array.strides);
  EXPECT_EQ(refusal_of([&] { selected(array, std::vector{at(3)}); }),
            "index 3 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(refusal_of([&] {
              selected(array, std::vector{at(0), at(0), at(0), at(0)});
            }),
            "too many indices for array: array is 3-dimensional, but 4 were indexed");
  EXPECT_EQ(refusal_of([&] {
              selected(array, std::vector{ellipsis, ellipsis});
            }),
            "an index can only have a single ellipsis ('...')");
  EXPECT_EQ(refusal_of([&] { selected(array, std::vector{slice({}, {}, 0)}); }), "slice step cannot be zero");
  const int64_t far = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(selected(array, std::vector{slice({}, {}, far)}).extents[0], 1u);
  EXPECT_EQ(selected(array, std::vector{slice(far, far)}).extents[0], 0u);
}

TEST(ArrayView, ReshapesCountElementsInTheArraysOrder) {
  for (const Order order : {Order::c, Order::fortran}) {
    const ArrayDescription array = array_of("'<u2'", 2, {4, 6}, order);
    EXPECT_EQ(reshaped(array, {2, 12}).strides,
              ArrayDescription::contiguous(array.dtype, {2, 12}, order, 0).strides);
    EXPECT_EQ(reshaped(array, {3, 0, 2}, 1).extents, (std::vector<uint64_t>{3, 4, 2}));
  }
  const ArrayDescription every_other = selected(array_of("'<u2'", 2, {4, 6}), std::vector{slice({}, {}, 2)});
  const ArrayDescription cut = reshaped(every_other, {2, 2, 3});
  EXPECT_EQ(cut.strides, (std::vector<int64_t>{24, 6, 2}));
  EXPECT_EQ(positions(cut), positions(every_other));
  EXPECT_THAT(refusal_of([&] { reshaped(every_other, {12}); }), testing::HasSubstr("gaps"));
  EXPECT_EQ(refusal_of([&] {
              reshaped(every_other, {5, 2});
            }),
            "cannot reshape array of size 12 into shape (5,2)");
  EXPECT_EQ(refusal_of([&] {
              reshaped(every_other, {5, 0}, 1);
            }),
            "cannot reshape array of size 12 into shape (5,-1)");
}

// Whatever its strides, a reshape has the same elements in the same order, if there is one.
TEST(ArrayView, ReshapesKeepTheOrderOfElements) {
  test::Random random;
  SEED_TRACE(random);
  int possible = 0;
  for (int i = 0; i < 2000; ++i) {
    ArrayDescription array = array_of("'|u1'", 1, {});
    int64_t stride = 1;
    std::vector<uint64_t> extents;
    for (int axes = random.in(0, 4); axes > 0; --axes) {
      const uint64_t extent = uint64_t{1} << random.in(0, 2);
      if (random.in(0, 3) == 0) stride += 3;
      array.extents.insert(array.extents.begin(), extent);
      array.strides.insert(array.strides.begin(), stride);
      stride *= static_cast<int64_t>(extent);
    }
    for (uint64_t left = array.elements(); left > 1;) {
      const uint64_t extent = std::min(left, uint64_t{1} << random.in(0, 3));
      extents.push_back(extent);
      left /= extent;
    }
    try {
      ASSERT_EQ(positions(reshaped(array, extents)), positions(array)) << "case " << i;
      ++possible;
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(possible, 500);
}

constexpr const char* records =
    "[('a', '<i2'), ('b', [('x', '>f4'), ('y', '|S3', (2,))]), ('', '|V1'), ('c', '<c8')]";

TEST(ArrayView, FieldsAreTheElements) {
  const ArrayDescription array = array_of(records, 2 + 10 + 1 + 8, {5});
  const ArrayDescription x = field_of(array, "b.x");
  EXPECT_EQ(x.dtype, (DType{4, "'>f4'"}));
  EXPECT_EQ(x.offset, 102u);
  EXPECT_EQ(x.strides, (std::vector<int64_t>{21}));
  const ArrayDescription y = field_of(array, "b.y");
  EXPECT_EQ(y.dtype, (DType{3, "'|S3'"}));
  EXPECT_EQ(y.extents, (std::vector<uint64_t>{5, 2}));
  EXPECT_EQ(y.strides, (std::vector<int64_t>{21, 3}));
  const ArrayDescription both = field_of(array, "c,a");
  EXPECT_EQ(both.dtype, (DType{10, "[('c', '<c8'), ('a', '<i2')]"}));
  EXPECT_EQ(both.pieces, (std::vector<ElementPiece>{{13, 8, 1}, {0, 2, 1}}));
  EXPECT_EQ(both.stored_bytes(), 21u);
  EXPECT_THAT(refusal_of([&] { field_of(array, "d"); }), testing::HasSubstr("'a', 'b', 'c'"));
  EXPECT_THAT(refusal_of([&] { field_of(array, "a.x"); }), testing::HasSubstr("no fields"));
  EXPECT_THAT(refusal_of([&] { field_of(array, "a,a"); }), testing::HasSubstr("named"));
}

TEST(ArrayView, ByteOrdersBelongToNumbers) {
  const ArrayDescription array = in_byte_order(array_of(records, 21, {5}), ByteOrder::little);
  EXPECT_EQ(
      array.dtype,
      (DType{21, "[('a', '<i2'), ('b', [('x', '<f4'), ('y', '|S3', (2,))]), ('', '|V1'), ('c', '<c8')]"}));
  EXPECT_EQ(array.pieces, (std::vector<ElementPiece>{{0, 2, 1}, {2, 4, 4}, {6, 15, 1}}));
  const ArrayDescription big = in_byte_order(array_of(records, 21, {5}), ByteOrder::big);
  EXPECT_EQ(big.pieces, (std::vector<ElementPiece>{{0, 2, 2}, {2, 11, 1}, {13, 8, 4}}));
  const ArrayDescription some = in_byte_order(field_of(array_of(records, 21, {5}), "c,a"), ByteOrder::big);
  EXPECT_EQ(some.pieces, (std::vector<ElementPiece>{{13, 8, 4}, {0, 2, 2}}));
  EXPECT_TRUE(in_byte_order(array_of("'<f8'", 8, {5}), ByteOrder::little).pieces.empty());
  EXPECT_EQ(in_byte_order(array_of("'<U7'", 28, {5}), ByteOrder::big).pieces,
            (std::vector<ElementPiece>{{0, 28, 4}}));
  EXPECT_EQ(in_byte_order(array_of("'<f1'", 1, {5}), ByteOrder::big).dtype.descr, "'<f1'");
  EXPECT_THAT(refusal_of([] { in_byte_order(array_of("'<g2'", 2, {5}), ByteOrder::big); }),
              testing::HasSubstr("byte order"));
}

TEST(ArrayDescription, RefusesWhatOverlapsOrLeavesTheFile) {
  const auto reasons = [](std::vector<uint64_t> extents, std::vector<int64_t> strides, uint64_t offset) {
    return refusal_of([&] {
      check_layout({{4, "'<u4'"}, std::move(extents), std::move(strides), offset}, 1000, "a");
    });
  };
  EXPECT_EQ(reasons({10, 10}, {40, 4}, 600), "no error");
  EXPECT_EQ(reasons({10, 10}, {-40, 4}, 360), "no error");
  EXPECT_EQ(reasons({0, 10}, {0, 0}, 5000), "no error");
  EXPECT_EQ(reasons({1, 10}, {0, 4}, 0), "no error");
  EXPECT_THAT(reasons({10, 10}, {40, 4}, 601), testing::HasSubstr("ends at byte 1001, the file has 1000"));
  EXPECT_THAT(reasons({10, 10}, {-40, 4}, 359), testing::HasSubstr("begins 1 byte before the file"));
  EXPECT_THAT(reasons({10, 10}, {0, 4}, 0), testing::HasSubstr("overlap"));
  EXPECT_THAT(reasons({10, 10}, {39, 4}, 0), testing::HasSubstr("overlap"));
  EXPECT_THAT(reasons({10}, {3}, 0), testing::HasSubstr("overlap"));
  EXPECT_THAT(reasons({uint64_t{1} << 62}, {std::numeric_limits<int64_t>::max()}, 0),
              testing::HasSubstr("ends at byte"));
}

}  // namespace
}  // namespace xorder::io
