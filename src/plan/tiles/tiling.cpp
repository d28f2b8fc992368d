#include "plan/tiles/tiling.hpp"
#include "rounding.hpp"

#include <algorithm>

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

// Elements between neighbours along each source axis, where the axes lie in memory in the order `axes`,
// slowest first.
std::vector<uint64_t> strides(const std::vector<uint64_t>& extents, const std::vector<int>& axes) {
  std::vector<uint64_t> result(extents.size());
  uint64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    result[static_cast<size_t>(axes[i])] = stride;
    stride *= extents[static_cast<size_t>(axes[i])];
  }
  return result;
}

struct MappedPart {
  int axis = -1;
  int bits = 0;  // of the box
  int low = 0;   // lg of the block on this side
  bool whole = false;
};

// Goes from the fastest axis on, in the file's order if `order` is null. If the box spans an axis, its runs
// go on along the next one.
void run_shape(const std::vector<uint64_t>& extents, const std::vector<uint64_t>& lengths,
               const std::vector<int>* order, const MappedPart& mapped, size_t most_axes, RunShape& shape) {
  shape.axes.resize(extents.size());
  shape.mapped_low = 0;
  shape.run_elements = shape.run_count = 1;
  bool within = true;
  for (size_t i = extents.size(); i-- > 0;) {
    within = within && extents.size() - i <= most_axes;
    const size_t axis = order ? static_cast<size_t>((*order)[i]) : i;
    RunStride& stride = shape.axes[axis];
    if (static_cast<int>(axis) == mapped.axis) {
      stride = {shape.run_count, shape.run_elements};
      shape.mapped_low = within ? mapped.low : 0;
      shape.run_elements <<= shape.mapped_low;
      shape.run_count <<= mapped.bits - shape.mapped_low;
      within = within && mapped.whole;
    } else if (within) {
      stride = {0, shape.run_elements};
      shape.run_elements *= lengths[axis];
      within = lengths[axis] == extents[axis];
    } else {
      stride = {shape.run_count, 0};
      shape.run_count *= lengths[axis];
    }
  }
}

struct Box {
  const std::vector<uint64_t>& start;
  const std::vector<uint64_t>& length;
};

// Lists the runs of a box. mapped_at(r) is the coordinate on the mapped axis of the r-th block.
template <typename MappedAt>
void list_runs(const RunShape& shape, const Box& box, const std::vector<uint64_t>& file_strides,
               int mapped_axis, int mapped_bits, const MappedAt& mapped_at, std::vector<Run>& runs) {
  runs.assign(shape.run_count, Run{});
  Run first{0, 1};
  for (size_t axis = 0; axis < box.start.size(); ++axis) {
    if (static_cast<int>(axis) == mapped_axis) {
      first.length <<= shape.mapped_low;
      continue;
    }
    first.offset += box.start[axis] * file_strides[axis];
    if (shape.axes[axis].runs == 0) first.length *= box.length[axis];
  }
  if (first.length == 0) return;

  std::vector<std::pair<uint64_t, uint64_t>> places{{0, first.offset}};  // (run number, offset)
  for (size_t axis = 0; axis < box.start.size(); ++axis) {
    const bool mapped = static_cast<int>(axis) == mapped_axis;
    if (!mapped && shape.axes[axis].runs == 0) continue;
    const uint64_t count = mapped ? uint64_t{1} << (mapped_bits - shape.mapped_low) : box.length[axis];
    std::vector<std::pair<uint64_t, uint64_t>> next;
    next.reserve(places.size() * count);
    for (uint64_t c = 0; c < count; ++c) {
      const uint64_t coordinate = mapped ? mapped_at(c << shape.mapped_low) : c;
      for (const auto& [run, offset] : places) {
        next.emplace_back(run + c * shape.axes[axis].runs, offset + coordinate * file_strides[axis]);
      }
    }
    places = std::move(next);
  }
  for (const auto& [run, offset] : places) runs[run] = {offset, first.length};
}

std::vector<int> in_order(size_t axes) {
  std::vector<int> result(axes);
  for (size_t i = 0; i < axes; ++i) result[i] = static_cast<int>(i);
  return result;
}

uint64_t pieces(uint64_t extent, uint64_t length) { return length == 0 ? 0 : ceil_div(extent, length); }

uint64_t product(const std::vector<uint64_t>& factors) {
  uint64_t result = 1;
  for (const uint64_t f : factors) result *= f;
  return result;
}

}  // namespace

void set_source_shape(const Reordering& what, const TileChoice& choice, int group_bits, RunShape& shape) {
  const int n = what.map.bits();
  run_shape(what.extents, choice.group, nullptr,
            {what.mapped.value_or(-1), group_bits, choice.source_low, choice.source_low == n}, ~size_t{0},
            shape);
}

void set_target_shape(const Reordering& what, const TileChoice& choice, int tile_bits, size_t most_axes,
                      RunShape& shape) {
  const int n = what.map.bits();
  run_shape(what.extents, choice.tile, &what.order,
            {what.mapped.value_or(-1), tile_bits, choice.target_low, choice.target_low == n}, most_axes,
            shape);
}

Tiling::Tiling(Reordering what, TileChoice choice)
    : what_(std::move(what)),
      choice_(std::move(choice)),
      source_strides_(strides(what_.extents, in_order(what_.extents.size()))),
      target_strides_(strides(what_.extents, what_.order)) {
  if (what_.mapped) {
    coset_.emplace(what_.map, choice_.source_low, choice_.target_low);
    group_bits_ = coset_->bits_of_subtile(choice_.group_low);
  }
  set_source_shape(what_, choice_, group_bits_, source_shape_);
  set_target_shape(what_, choice_, coset_ ? coset_->bits() : 0, choice_.target_axes, target_shape_);
}

uint64_t Tiling::tile_elements() const { return product(choice_.tile) << (coset_ ? coset_->bits() : 0); }

uint64_t Tiling::tile_count() const {
  uint64_t count = coset_ ? coset_->tile_count() : 1;
  for (size_t axis = 0; axis < what_.extents.size(); ++axis) {
    if (what_.mapped != static_cast<int>(axis)) count *= pieces(what_.extents[axis], choice_.tile[axis]);
  }
  return count;
}

Tile Tiling::tile(uint64_t number) const {
  const size_t axes = what_.extents.size();
  Tile tile{std::vector<uint64_t>(axes, 0), std::vector<uint64_t>(axes, 1), {}, 1};
  for (size_t i = axes; i-- > 0;) {
    const auto axis = static_cast<size_t>(what_.order[i]);
    if (what_.mapped == what_.order[i]) {
      tile.base = coset_->base(number % coset_->tile_count());
      number /= coset_->tile_count();
      tile.groups *= uint64_t{1} << (coset_->bits() - group_bits_);
    } else {
      const uint64_t count = pieces(what_.extents[axis], choice_.tile[axis]);
      tile.start[axis] = number % count * choice_.tile[axis];
      tile.length[axis] = std::min(choice_.tile[axis], what_.extents[axis] - tile.start[axis]);
      number /= count;
      tile.groups *= pieces(tile.length[axis], choice_.group[axis]);
    }
  }
  return tile;
}

Group Tiling::group(const Tile& tile, uint64_t number) const {
  Group group{tile.start, tile.length, tile.base, 0, tile.base.local_offset, {}};
  for (size_t axis = 0; axis < what_.extents.size(); ++axis) {
    if (what_.mapped == static_cast<int>(axis)) continue;
    const uint64_t count = pieces(tile.length[axis], choice_.group[axis]);
    const uint64_t shift = number % count * choice_.group[axis];
    number /= count;
    group.start[axis] += shift;
    group.length[axis] = std::min(choice_.group[axis], tile.length[axis] - shift);
    group.target_shift.runs += shift * target_shape_.axes[axis].runs;
    group.target_shift.elements += shift * target_shape_.axes[axis].elements;
  }
  if (coset_) {
    group.source_high = number << group_bits_;
    group.target_offset ^= coset_->local_map()(group.source_high);
  }
  return group;
}

void Tiling::source_runs(const Group& group, std::vector<Run>& runs) const {
  list_runs(
      source_shape_, {group.start, group.length}, source_strides_, what_.mapped.value_or(-1), group_bits_,
      [&](gf2::Word h) { return coset_->source_index(group.base, group.source_high | h); }, runs);
}

void Tiling::target_runs(const Tile& tile, std::vector<Run>& runs) const {
  list_runs(
      target_shape_, {tile.start, tile.length}, target_strides_, what_.mapped.value_or(-1),
      coset_ ? coset_->bits() : 0, [&](gf2::Word z) { return coset_->target_index(tile.base, z); }, runs);
}

}  // namespace xorder::plan
