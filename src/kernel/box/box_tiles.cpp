#include "kernel/box/box_tiles.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernel/box/places.hpp"
#include "kernel/vectors/micro.hpp"
#include "rounding.hpp"

namespace xorder::kernel {

BoxTiles::BoxTiles(std::uint64_t element_bytes, std::span<const Axis> axes, const TileGoal& goal)
    : element_bytes_(element_bytes), axes_(axes.begin(), axes.end()), by_source_(axes.size()) {
  for (const Axis& axis : axes_) lengths_.push_back(axis.length);
  std::iota(by_source_.begin(), by_source_.end(), 0);
  std::ranges::sort(by_source_, {},
                    [&](std::size_t i) { return std::pair(axes_[i].source.runs, axes_[i].source.bytes); });
  std::size_t run = goal.run;
  while (!choose(run, std::max(line_bytes, run / 2), goal)) run /= 2;
  // Only the slowest axis of a row or of a run may be divided, so a smaller tile has the first of them.
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (parts_[i].in_run && !parts_[i].in_row) repeat(rows_, parts_[i].length, axes_[i].source);
  }
  for (const std::size_t i : by_source_) {
    if (parts_[i].in_row && !parts_[i].in_run) repeat(runs_, parts_[i].length, axes_[i].target);
  }
}

// Chooses a tile with runs and rows of about this many bytes. Returns whether that was possible in a tile
// that is not too large, with runs that are not much longer if they are limited.
bool BoxTiles::choose(std::size_t run_bytes, std::size_t row_bytes, const TileGoal& goal) {
  parts_.assign(axes_.size(), {});
  std::uint64_t bytes = element_bytes_;
  for (std::size_t i = 0; i < axes_.size(); ++i) grow(i, &Axis::target, run_bytes, &Part::in_run, bytes);
  bytes = element_bytes_;
  for (const std::size_t i : by_source_) grow(i, &Axis::source, row_bytes, &Part::in_row, bytes);
  tile_bytes_ = element_bytes_;
  std::uint64_t run = element_bytes_;
  for (const Part& part : parts_) {
    tile_bytes_ *= part.length;
    if (part.in_run) run *= part.length;
  }
  return (tile_bytes_ <= goal.largest_tile && (!goal.limits_runs || run <= 4 * run_bytes)) ||
         run_bytes <= line_bytes;
}

// Lets a run or row of `bytes` bytes go on along the axis, if that comes next on its side.
void BoxTiles::grow(std::size_t axis, Stride Axis::*side, std::uint64_t goal, bool Part::*in,
                    std::uint64_t& bytes) {
  const Stride& stride = axes_[axis].*side;
  if (bytes >= goal || stride.runs != 0 || stride.bytes != bytes) return;
  // Parts are about equal and of up to twice the goal, or as many coordinates more as make an odd number of
  // lines: what lies side by side in a buffer is not to share its sets in the cache.
  const std::uint64_t extent = axes_[axis].length, parts = ceil_div(extent * bytes, 2 * goal);
  const std::uint64_t length = ceil_div(extent, parts), lines = line_bytes / std::gcd(line_bytes, bytes);
  Part& part = parts_[axis];
  part.length = std::max(part.length, parts == 1 || length < lines
                                          ? length
                                          : std::min(extent, (ceil_div(length, lines) | 1) * lines));
  part.*in = true;
  bytes = part.length == extent ? bytes * extent : goal;
}

std::uint64_t BoxTiles::tile_count() const {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) count *= ceil_div(lengths_[i], parts_[i].length);
  return count;
}

bool BoxTiles::fit(std::span<const std::uint64_t> lengths) const {
  bool row_ended = false, run_ended = false;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (run_ended && parts_[i].in_run) return false;
    run_ended = run_ended || (parts_[i].in_run && lengths[i] < lengths_[i]);
  }
  for (const std::size_t i : by_source_) {
    if (row_ended && parts_[i].in_row) return false;
    row_ended = row_ended || (parts_[i].in_row && lengths[i] < lengths_[i]);
  }
  return true;
}

BoxTiles::Walk::Walk(const BoxTiles& tiles, std::uint64_t first) : Walk(tiles, tiles.lengths_) {
  for (std::size_t i = 0; first != 0; ++i) {
    const std::uint64_t count = ceil_div(lengths_[i], tiles.parts_[i].length);
    at_[i] = first % count * tiles.parts_[i].length;
    place_.advance(tiles.axes_[i], at_[i]);
    first /= count;
  }
}

BoxTiles::Walk::Walk(const BoxTiles& tiles, std::span<const std::uint64_t> lengths)
    : tiles_(tiles), lengths_(lengths) {
  std::fill_n(at_.begin(), lengths.size(), 0);
}

BoxTiles::Tile BoxTiles::Walk::tile() const {
  Tile tile{place_.source, place_.target};
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const Part& part = tiles_.parts_[i];
    const std::uint64_t length = std::min(part.length, lengths_[i] - at_[i]);
    if (part.in_row) tile.row *= length;
    if (part.in_run) tile.run *= length;
    if (part.in_row && !part.in_run) tile.runs *= length;
    if (part.in_run && !part.in_row) tile.rows *= length;
  }
  return tile;
}

bool BoxTiles::Walk::advance() {
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const std::uint64_t step = tiles_.parts_[i].length;
    if (at_[i] + step < lengths_[i]) {
      at_[i] += step;
      place_.advance(tiles_.axes_[i], step);
      return true;
    }
    place_.rewind(tiles_.axes_[i], at_[i]);
    at_[i] = 0;
  }
  return false;
}

}  // namespace xorder::kernel
