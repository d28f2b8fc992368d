#include "plan/tiles/strided_source.hpp"

#include <algorithm>
#include <cmath>

#include "rounding.hpp"

namespace xorder::plan {
namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;

constexpr uint64_t least_gap = 4096;

// Without axes of a single step; neighbours that make one regular sequence are one axis.
std::vector<StridedAxis> merged(const std::vector<StridedAxis>& axes) {
  std::vector<StridedAxis> result;
  for (const StridedAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!result.empty() && result.back().backwards == axis.backwards &&
        result.back().stride == axis.extent * axis.stride)
      result.back() = {result.back().extent * axis.extent, axis.stride, axis.backwards};
    else
      result.push_back(axis);
  }
  if (result.empty()) result.emplace_back();
  return result;
}

// At most (or, for steps back, at least) how often d steps pass a multiple of `units`, times `jump`.
int64_t most_jumped(int64_t jump, uint64_t units, uint64_t d) {
  return jump * static_cast<int64_t>(jump > 0 ? ceil_div(d, units) : d / units);
}

}  // namespace

StridedSource::StridedSource(std::vector<StridedAxis> axes, uint64_t element_bytes,
                             std::vector<ElementPiece> pieces)
    : pieces_(std::move(pieces)) {
  if (pieces_.empty()) {
    axes.push_back({element_bytes, 1, false});  // a unit is a byte
  } else {
    unit_ = element_bytes;
    stored_ = 0;
    for (const ElementPiece& piece : pieces_) stored_ = std::max(stored_, piece.offset + piece.bytes);
  }
  axes_ = merged(axes);
  span_.assign(rank() + 1, stored_);
  volume_.assign(rank() + 1, 1);
  for (size_t i = rank(); i-- > 0;) {
    span_[i] = (axes_[i].extent - 1) * axes_[i].stride + span_[i + 1];
    volume_[i] = axes_[i].extent * volume_[i + 1];
  }
  const StridedAxis& fastest = axes_.back();
  chunked_ = fastest.stride == stored_ && !fastest.backwards ? rank() - 1 : rank();
  set_box(0);
}

bool StridedSource::trivial() const { return rank() == 1 && chunked_ == 0 && pieces_.empty(); }

StridedSource StridedSource::reading_through(uint64_t gap) const {
  StridedSource other = *this;
  other.set_box(gap);
  return other;
}

// Whether an axis of these goes backwards. Then a run that ends within a step of the first axis spans the
// whole step.
bool StridedSource::turned(size_t level) const {
  return std::any_of(axes_.begin() + static_cast<std::ptrdiff_t>(level), axes_.end(),
                     [](const StridedAxis& axis) { return axis.backwards; });
}

void StridedSource::set_box(uint64_t gap) {
  gap = std::max(gap, least_gap);
  box_ = rank();
  while (box_ > 0) {
    const size_t i = box_ - 1;
    if (axes_[i].stride - span_[i + 1] > gap || (turned(i) && span_[i + 1] > gap)) break;
    box_ = i;
  }
}

uint64_t StridedSource::most_spans(uint64_t bytes) const {
  const uint64_t n = ceil_div(bytes, unit_), volume = volume_[box_];
  return n == 0 ? 0 : std::min(volume_[0] / volume, (n + volume - 2) / volume + 1);
}

// As if boxes followed each other in the file. The distance between two units grows by the stride of the
// fastest axis for each step, and by a jump, which may be backwards, wherever another axis steps.
uint64_t StridedSource::most_bytes_read(uint64_t bytes) const {
  const uint64_t n = ceil_div(bytes, unit_);
  if (n == 0) return 0;
  const uint64_t most = most_spans(bytes) * span_[box_], d = n - 1;
  if (box_ == rank()) return most;
  const auto signed_of = [](uint64_t value) { return static_cast<int64_t>(value); };
  int64_t sum = signed_of(stored_ + d * axes_.back().stride);
  for (size_t i = rank() - 1; i-- > box_;) {
    const StridedAxis& inner = axes_[i + 1];
    sum +=
        most_jumped(signed_of(axes_[i].stride) - signed_of(inner.extent * inner.stride), volume_[i + 1], d);
  }
  const StridedAxis& first = axes_[box_];
  sum += most_jumped(signed_of(span_[box_]) - signed_of(first.extent * first.stride), volume_[box_], d);
  if (turned(box_)) sum += signed_of(2 * (first.stride + span_[box_ + 1]));
  return std::min(most, static_cast<uint64_t>(std::max(sum, signed_of(stored_))));
}

double StridedSource::spans(double bytes) const {
  const double steps = bytes / static_cast<double>(unit_) - 1;
  return std::min(1 + std::max(steps, 0.0) / static_cast<double>(volume_[box_]),
                  static_cast<double>(volume_[0] / volume_[box_]));
}

double StridedSource::bytes_read(double bytes) const {
  const double whole = static_cast<double>(bytes_read()), all = static_cast<double>(volume_[0] * unit_);
  return std::min(whole, std::max(bytes / all * whole, static_cast<double>(stored_)));
}

uint64_t StridedSource::place(size_t axis, uint64_t coordinate) const {
  const StridedAxis& a = axes_[axis];
  return (a.backwards ? a.extent - 1 - coordinate : coordinate) * a.stride;
}

// Where the units first .. last (included) of the axes from `level` on lie.
StridedSource::Hull StridedSource::hull(size_t level, uint64_t first, uint64_t last) const {
  if (first == 0 && last == volume_[level] - 1) return {0, span_[level]};
  const uint64_t step = volume_[level + 1], from = first / step, to = last / step;
  const auto part = [&](uint64_t coordinate, uint64_t begin, uint64_t end) {
    Hull inner = hull(level + 1, begin, end);
    return Hull{place(level, coordinate) + inner.begin, place(level, coordinate) + inner.end};
  };
  if (from == to) return part(from, first % step, last % step);
  const Hull a = part(from, first % step, step - 1), b = part(to, 0, last % step);
  Hull both{std::min(a.begin, b.begin), std::max(a.end, b.end)};
  if (to - from > 1) {  // whole steps between them, which reach further if an axis goes backwards
    for (const uint64_t coordinate : {from + 1, to - 1}) {
      both.begin = std::min(both.begin, place(level, coordinate));
      both.end = std::max(both.end, place(level, coordinate) + span_[level + 1]);
    }
  }
  return both;
}

// Of the axes before `level`, at this index over all of them.
uint64_t StridedSource::outer_position(size_t level, uint64_t index) const {
  uint64_t position = 0;
  for (size_t i = level; i-- > 0;) {
    position += place(i, index % axes_[i].extent);
    index /= axes_[i].extent;
  }
  return position;
}

StridedSource::Plate StridedSource::next_plate(uint64_t first, uint64_t units) const {
  const uint64_t chunk = volume_[chunked_], within = first % chunk, index = first / chunk;
  Plate plate{.position = outer_position(chunked_, index), .units = chunk};
  if (within != 0 || units < chunk) {  // a part of a chunk
    plate.position += within * stored_;
    plate.units = std::min(units, chunk - within);
    return plate;
  }
  if (chunked_ == 0) return plate;
  const auto step = [&](size_t axis) {
    const auto stride = static_cast<std::int64_t>(axes_[axis].stride);
    return axes_[axis].backwards ? -stride : stride;
  };
  const size_t axis = chunked_ - 1;
  const uint64_t extent = axes_[axis].extent, at = index % extent, chunks = units / chunk;
  plate.step = step(axis);
  plate.count = std::min(chunks, extent - at);
  if (axis == 0 || at != 0 || chunks < extent) return plate;
  plate.row_step = step(axis - 1);
  plate.rows = std::min(chunks / extent, axes_[axis - 1].extent - index / extent % axes_[axis - 1].extent);
  return plate;
}

uint64_t gap_worth_reading(const Device& device) {
  uint64_t gap = least_gap;
  while (gap < device.largest_useful_request() &&
         device.read_seconds(1, 2 * gap) <= 2 * device.read_seconds(1, least_gap))
    gap *= 2;
  return gap;
}

}  // namespace xorder::plan
