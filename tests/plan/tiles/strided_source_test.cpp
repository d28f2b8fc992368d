#include "plan/tiles/strided_source.hpp"

#include <gtest/gtest.h>

#include "plan/reference.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

struct Case {
  std::vector<StridedAxis> axes;
  uint64_t element_bytes = 1;
  std::vector<ElementPiece> pieces;
  std::vector<uint64_t> places;  // of the units, in their sequence
};

// Where each element lies, by the definition.
std::vector<uint64_t> places_of(const std::vector<StridedAxis>& axes) {
  std::vector<uint64_t> places{0};
  for (const StridedAxis& axis : axes) {
    std::vector<uint64_t> next;
    for (const uint64_t place : places) {
      for (uint64_t i = 0; i < axis.extent; ++i)
        next.push_back(place + (axis.backwards ? axis.extent - 1 - i : i) * axis.stride);
    }
    places = std::move(next);
  }
  return places;
}

Case random_case(test::Random& random) {
  Case c;
  c.element_bytes = random.in(uint64_t{1}, uint64_t{9});
  uint64_t reached = c.element_bytes;
  if (random.in(0, 3) == 0) {  // two pieces, with bytes between them
    const uint64_t first = random.in(uint64_t{1}, c.element_bytes);
    c.pieces.push_back({random.in(uint64_t{0}, uint64_t{3}), first, 1});
    if (first < c.element_bytes)
      c.pieces.push_back({first + 3 + random.in(uint64_t{0}, uint64_t{3}), c.element_bytes - first, 1});
    reached = c.pieces.back().offset + c.pieces.back().bytes;
  }
  for (int axes = random.in(0, 5); axes > 0; --axes) {
    const uint64_t gap = random.in(0, 2) == 0 ? 0 : random.in(uint64_t{0}, uint64_t{1} << random.in(0, 14));
    c.axes.insert(c.axes.begin(), {random.in(uint64_t{1}, uint64_t{6}), reached + gap, random.in(0, 2) == 0});
    reached += (c.axes[0].extent - 1) * c.axes[0].stride;
  }
  for (const uint64_t place : places_of(c.axes)) {
    if (!c.pieces.empty()) c.places.push_back(place);
    for (uint64_t b = 0; b < c.element_bytes && c.pieces.empty(); ++b) c.places.push_back(place + b);
  }
  return c;
}

// Every unit of a run is in one plate, at its place and in its order, and within the box's span.
void expect_finds(const StridedSource& source, const Case& c, uint64_t first, uint64_t units) {
  const uint64_t unit = source.unit_bytes();
  uint64_t next = first, boxes = 0, bytes = 0;
  source.for_each_box(first * unit, units * unit, [&](const StridedSource::Box& box) {
    ASSERT_EQ(box.first, next);
    ++boxes;
    bytes += box.bytes;
    uint64_t least = ~uint64_t{0}, most = 0;
    source.for_each_plate(box.first, box.units, [&](const StridedSource::Plate& plate) {
      for (uint64_t row = 0; row < plate.rows; ++row) {
        for (uint64_t i = 0; i < plate.count; ++i) {
          for (uint64_t j = 0; j < plate.units; ++j, ++next) {
            const uint64_t place = plate.position + row * static_cast<uint64_t>(plate.row_step) +
                                   i * static_cast<uint64_t>(plate.step) + j * source.stored_bytes();
            ASSERT_LT(next, c.places.size());
            ASSERT_EQ(place, c.places[next]);
            least = std::min(least, place);
            most = std::max(most, place + source.stored_bytes());
          }
        }
      }
    });
    ASSERT_EQ(next, box.first + box.units);
    ASSERT_EQ(box.begin, least);
    ASSERT_EQ(box.begin + box.bytes, most);
  });
  ASSERT_EQ(next, first + units);
  ASSERT_LE(boxes, source.most_spans(units * unit));
  ASSERT_LE(bytes, source.most_bytes_read(units * unit));
}

TEST(StridedSource, FindsEveryUnitOfARunInItsOrder) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 600; ++i) {
    const Case c = random_case(random);
    const StridedSource whole(c.axes, c.element_bytes, c.pieces);
    const auto source = whole.reading_through(uint64_t{1} << random.in(0, 15));
    ASSERT_EQ(source.unit_bytes(), c.pieces.empty() ? 1 : c.element_bytes);
    for (int run = 0; run < 6; ++run) {
      const uint64_t first = random.in(uint64_t{0}, c.places.size() - 1);
      const uint64_t units =
          run == 0 ? c.places.size() - first : random.in(uint64_t{0}, c.places.size() - first);
      ASSERT_NO_FATAL_FAILURE(expect_finds(source, c, first, units))
          << "case " << i << ": " << first << ", " << units;
    }
    ASSERT_NO_FATAL_FAILURE(expect_finds(source, c, 0, c.places.size()));
  }
}

TEST(StridedSource, IsTrivialIfElementsFollowEachOther) {
  EXPECT_TRUE(StridedSource({{3, 20, false}, {5, 4, false}}, 4, {}).trivial());
  EXPECT_TRUE(StridedSource({{1, 999, true}, {5, 4, false}}, 4, {}).trivial());
  EXPECT_TRUE(StridedSource({}, 4, {}).trivial());
  EXPECT_FALSE(StridedSource({{3, 21, false}, {5, 4, false}}, 4, {}).trivial());
  EXPECT_FALSE(StridedSource({{3, 20, true}, {5, 4, true}}, 4, {}).trivial());
  EXPECT_FALSE(StridedSource({{15, 4, false}}, 4, {{0, 4, 4}}).trivial());
}

// Rows of 1000 bytes, each padded by 24.
TEST(StridedSource, ReadsThroughShortGapsOnly) {
  const StridedSource whole({{100, 1024, false}}, 1000, {});
  const auto spans = [&](const StridedSource& source) {
    uint64_t count = 0;
    source.for_each_box(0, 100'000, [&](const StridedSource::Box&) { ++count; });
    return count;
  };
  EXPECT_EQ(spans(whole.reading_through(24)), 1u);
  EXPECT_EQ(whole.reading_through(24).bytes_read(), 99u * 1024 + 1000);
  const StridedSource far({{100, 10'000, false}}, 1000, {});
  EXPECT_EQ(spans(far.reading_through(8999)), 100u);
  EXPECT_EQ(far.reading_through(8999).bytes_read(), 100'000u);
  EXPECT_EQ(spans(far.reading_through(9000)), 1u);
}

}  // namespace
}  // namespace xorder::plan
