#include "plan/tiles/geometry.hpp"

#include <algorithm>

#include "rounding.hpp"

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

// One of the two files: its axes, slowest first (null: in the file's order), and how far a group or tile
// reaches along them.
struct Side {
  const RunShape& shape;
  const std::vector<int>* axes;
  const std::vector<uint64_t>& lengths;
  const std::vector<uint64_t>& tile;
};

bool aligned(const Reordering& what, const Side& side, uint64_t offset, uint64_t alignment) {
  if (offset % alignment != 0) return false;
  uint64_t stride = what.element_bytes;
  for (size_t i = what.extents.size(); i-- > 0;) {
    const size_t axis = side.axes ? static_cast<size_t>((*side.axes)[i]) : i;
    uint64_t step = stride;  // from one run's beginning to another's along this axis
    if (what.mapped == static_cast<int>(axis)) {
      step <<= side.shape.mapped_low;
    } else if (side.shape.axes[axis].runs == 0) {
      step *= side.lengths[axis];
      // A tile's first group begins where the tile does, which need not be a multiple of a group.
      const uint64_t tile = side.tile[axis];
      if (tile < what.extents[axis] && stride * tile % alignment != 0) return false;
    }
    if (step % alignment != 0) return false;
    stride *= what.extents[axis];
  }
  return true;
}

uint64_t average_run_bytes(const Reordering& what, const Side& side) {
  auto run = static_cast<double>(side.shape.run_elements * what.element_bytes);
  for (size_t axis = 0; axis < side.lengths.size(); ++axis) {
    if (what.mapped == static_cast<int>(axis) || side.shape.axes[axis].runs != 0) continue;
    const uint64_t extent = what.extents[axis], tile = side.tile[axis], length = side.lengths[axis];
    const uint64_t cuts = extent / tile * ceil_div(tile, length) + ceil_div(extent % tile, length);
    run *= static_cast<double>(extent) / static_cast<double>(cuts * length);
  }
  return std::max<uint64_t>(1, static_cast<uint64_t>(run));
}

}  // namespace

bool complete(const Reordering& what, const Setting& setting, int tile_bits, int group_bits, Geometry& g) {
  const TileChoice& choice = g.choice;
  g.tile_elements = 1;
  for (const uint64_t length : choice.tile) {
    if (__builtin_mul_overflow(g.tile_elements, length, &g.tile_elements)) return false;
  }
  if (tile_bits >= 62 || g.tile_elements > (setting.memory / what.element_bytes) >> tile_bits) return false;
  g.tile_elements <<= tile_bits;

  set_source_shape(what, choice, group_bits, g.source);
  set_target_shape(what, choice, tile_bits, choice.target_axes, g.target);
  set_target_shape(what, choice, tile_bits, what.order.size(), g.written);
  g.tiles = ceil_div(what.elements(), g.tile_elements);
  g.groups = ceil_div(what.elements(), g.source.run_elements * g.source.run_count);

  const Side source{g.source, nullptr, choice.group, choice.tile};
  const Side target{g.written, &what.order, choice.tile, choice.tile};
  g.source_aligned = !setting.strided && aligned(what, source, setting.source_offset, setting.read_alignment);
  g.target_aligned = aligned(what, target, setting.target_offset, setting.write_alignment) &&
                     setting.target_part % setting.write_alignment == 0;
  g.source_block = average_run_bytes(what, source);
  g.target_block = average_run_bytes(what, target);
  if (setting.target_part != 0) g.target_block = std::min(g.target_block, setting.target_part);
  return true;
}

}  // namespace xorder::plan
