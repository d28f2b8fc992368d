#include "kernel/vectors/parcel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernel/instruction_sets.hpp"
#include "plan/reference.hpp"

namespace xorder::kernel {
namespace {

using test::random_bytes;
using test::with_every_instruction_set;

// Any axes in the order of the source, perhaps with gaps between their coordinates, of which some in any order
// make a run, and a few parcels that follow each other in source and target, or lie apart in the source.
struct Parcels {
  ParcelShape shape;
  std::uint64_t source_bytes = 0, target_bytes = 0;
};

Parcels any_parcels(test::Random& random) {
  Parcels c;
  ParcelShape& shape = c.shape;
  const std::uint64_t sizes[] = {1, 1, 2, 3, 4, 5, 8, 12, 16, 24, 100};
  shape.element_bytes = sizes[random.in(std::size_t{0}, std::size_t{10})];
  std::uint64_t stride = shape.element_bytes;
  const kernel::ParcelVectors vectors = Parcel::vectors(shape.element_bytes);
  const auto fits = [&] { return shape.sizes().loaded(vectors) <= Parcel::most_vectors; };
  const auto gap = [&] { return random.in(0, 2) == 0 ? random.in(std::uint64_t{0}, std::uint64_t{300}) : 0; };
  for (int axis = random.in(1, 4); axis > 0; --axis) {
    shape.axes.push_back({random.in(std::uint64_t{1}, std::uint64_t{13}), {0, stride}, {}});
    while (shape.axes.back().length != 1 && !fits()) --shape.axes.back().length;
    stride = stride * shape.axes.back().length + gap();
  }
  shape.along.source.bytes = stride;
  shape.taken = random.in(std::uint64_t{1}, std::uint64_t{40});
  while (shape.taken != 1 && !fits()) --shape.taken;
  shape.along.length = shape.taken * random.in(std::uint64_t{1}, std::uint64_t{9}) +
                       random.in(std::uint64_t{0}, shape.taken - 1);
  c.source_bytes = (shape.along.length - 1) * shape.along.source.bytes + shape.element_bytes;
  for (const Axis& axis : shape.axes) c.source_bytes += (axis.length - 1) * axis.source.bytes;
  std::ranges::shuffle(shape.axes, random);
  const std::size_t in_run = random.in(std::size_t{0}, shape.axes.size());
  stride = shape.element_bytes;
  for (std::size_t i = 0; i < shape.axes.size(); ++i) {
    if (i == in_run) {
      shape.along.target.bytes = stride;
      stride *= shape.along.length;
    }
    shape.axes[i].target.bytes = stride;
    stride *= shape.axes[i].length;
  }
  if (in_run == shape.axes.size()) {
    shape.along.target.bytes = stride;
    stride *= shape.along.length;
  }
  c.target_bytes = stride;
  return c;
}

// Calls each(source, target) for each coordinate of the axes from number `axis` on, with its places.
template <class Each>
void for_each_place(const ParcelShape& shape, std::size_t axis, std::uint64_t source, std::uint64_t target,
                    const Each& each) {
  if (axis == shape.axes.size()) return each(source, target);
  const Axis& a = shape.axes[axis];
  for (std::uint64_t c = 0; c < a.length; ++c)
    for_each_place(shape, axis + 1, source + c * a.source.bytes, target + c * a.target.bytes, each);
}

// The source has no byte more than needed, which shows reads behind it to the address sanitizer.
TEST(Parcel, MovesEachElementToItsPlaceAndNothingElse) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    if (Parcel::vectors(1).loaded == 0) return;
    for (int i = 0; i < 300; ++i) {
      SCOPED_TRACE(i);
      const Parcels c = any_parcels(random);
      const ParcelShape& shape = c.shape;
      const auto source = random_bytes(random, c.source_bytes);
      std::vector<std::byte> target(64 + c.target_bytes + 64, std::byte{0xA5}), expected = target;
      for (std::uint64_t a = 0; a < shape.along.length; ++a) {
        for_each_place(shape, 0, a * shape.along.source.bytes, 64 + a * shape.along.target.bytes,
                       [&](std::uint64_t from, std::uint64_t to) {
                         std::memcpy(&expected[to], &source[from], shape.element_bytes);
                       });
      }
      // What is behind the last one may be overwritten as far as it is said.
      const std::uint64_t behind =
          shape.is_one_run() && random.in(0, 2) != 0 ? random.in(std::uint64_t{1}, std::uint64_t{64}) : 0;
      Parcel(shape).move(target.data() + 64, source.data(), shape.along.length, source.data() + source.size(),
                         behind);
      std::copy_n(expected.end() - 64, behind, target.end() - 64);
      ASSERT_TRUE(target == expected)
          << shape.along.length << " of parcels of " << shape.sizes().bytes << " bytes in rows of "
          << shape.sizes().row << " and runs of " << shape.sizes().run;
    }
  });
}

// The parts of an axis are moved in any order: what one writes, another does not touch.
TEST(Parcel, PartsOfAnAxisInAnyOrder) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    if (Parcel::vectors(1).loaded == 0) return;
    for (int i = 0; i < 100; ++i) {
      SCOPED_TRACE(i);
      const Parcels c = any_parcels(random);
      const Axis& along = c.shape.along;
      const auto source = random_bytes(random, c.source_bytes);
      std::vector<std::byte> target(c.target_bytes), expected = target;
      const Parcel parcel(c.shape);
      const std::byte* const end = source.data() + source.size();
      parcel.move(expected.data(), source.data(), along.length, end, 0);
      const std::uint64_t first =
          along.length < 2 * c.shape.taken ? 0 : random.in(c.shape.taken, along.length - c.shape.taken);
      const auto move = [&](std::uint64_t begin, std::uint64_t last) {
        if (begin != last)
          parcel.move(target.data() + begin * along.target.bytes, source.data() + begin * along.source.bytes,
                      last - begin, end, 0);
      };
      move(first, along.length);
      move(0, first);
      ASSERT_TRUE(target == expected);
    }
  });
}

}  // namespace
}  // namespace xorder::kernel
