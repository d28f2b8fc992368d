// Performs a tiling element by element on element numbers, from the documented meaning of its parts alone.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "plan/tiles/tiling.hpp"

namespace xorder::test {

/// Every source run of every group, every target run of every tile: each element is read once, written once,
/// and what arrives at target_index(x) is x.
inline void expect_performs(const plan::Tiling& tiling) {
  const Reordering& what = tiling.what();
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::vector<std::uint64_t> target(what.elements(), none);
  std::uint64_t read = 0;
  for (std::uint64_t t = 0; t < tiling.tile_count(); ++t) {
    const plan::Tile tile = tiling.tile(t);
    std::vector<plan::Run> target_runs, source_runs;
    tiling.target_runs(tile, target_runs);
    ASSERT_EQ(target_runs.size(), tiling.target_shape().run_count);
    std::uint64_t tile_elements = 0, group_elements = 0;
    for (const plan::Run& run : target_runs) tile_elements += run.length;
    ASSERT_LE(tile_elements, tiling.tile_elements());

    for (std::uint64_t g = 0; g < tile.groups; ++g) {
      const plan::Group group = tiling.group(tile, g);
      tiling.source_runs(group, source_runs);
      for (const plan::Run& run : source_runs) {
        group_elements += run.length;
        for (std::uint64_t i = 0; i < run.length; ++i) ASSERT_LT(run.offset + i, what.elements());
      }
      // Walk the group's coordinates: the position on each side is the sum of what each axis contributes.
      std::vector<std::uint64_t> c(what.extents.size(), 0);
      const std::uint64_t mapped_count = std::uint64_t{1} << tiling.group_bits();
      const auto count = [&](std::size_t axis) {
        return what.mapped == static_cast<int>(axis) ? mapped_count : group.length[axis];
      };
      bool more = true;
      while (more) {
        plan::RunStride from, to = group.target_shift;
        for (std::size_t axis = 0; axis < c.size(); ++axis) {
          const auto& s = tiling.source_shape().axes[axis];
          const auto& d = tiling.target_shape().axes[axis];
          if (what.mapped == static_cast<int>(axis)) {
            const int sl = tiling.source_shape().mapped_low, dl = tiling.target_shape().mapped_low;
            const gf2::Word h = c[axis], z = tiling.coset()->local_map()(h) ^ group.target_offset;
            from.runs += (h >> sl) * s.runs;
            from.elements += (h & gf2::low_mask(sl)) * s.elements;
            to.runs += (z >> dl) * d.runs;
            to.elements += (z & gf2::low_mask(dl)) * d.elements;
          } else {
            from.runs += c[axis] * s.runs;
            from.elements += c[axis] * s.elements;
            to.runs += c[axis] * d.runs;
            to.elements += c[axis] * d.elements;
          }
        }
        ASSERT_LT(from.runs, source_runs.size());
        ASSERT_LT(from.elements, source_runs[from.runs].length);
        ASSERT_LT(to.runs, target_runs.size());
        ASSERT_LT(to.elements, target_runs[to.runs].length);
        const std::uint64_t x = source_runs[from.runs].offset + from.elements;
        const std::uint64_t y = target_runs[to.runs].offset + to.elements;
        ASSERT_EQ(y, what.target_index(x));
        ASSERT_EQ(target[y], none);
        target[y] = x;
        ++read;
        more = false;
        for (std::size_t axis = 0; axis < c.size() && !more; ++axis) {
          if (++c[axis] < count(axis))
            more = true;
          else
            c[axis] = 0;
        }
      }
    }
    ASSERT_EQ(group_elements, tile_elements);
  }
  ASSERT_EQ(read, what.elements());
}

}  // namespace xorder::test
