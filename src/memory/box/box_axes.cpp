#include "memory/box/box_axes.hpp"

#include <algorithm>
#include <utility>

#include "memory/micro.hpp"

namespace xorder::memory {

TargetAxes::TargetAxes(const Reordering& r) : element_bytes(r.element_bytes) {
  std::vector<std::uint64_t> strides(r.extents.size());
  std::uint64_t stride = r.element_bytes;
  for (std::size_t axis = r.extents.size(); axis-- > 0; stride *= r.extents[axis]) strides[axis] = stride;
  std::size_t end = r.order.size();
  const int fastest = static_cast<int>(end) - 1;
  if (r.order.back() == fastest) {  // canonical() does not merge an axis into elements that get too large
    element_bytes *= r.extents.back();
    --end;
  }
  while (end-- > 0) {
    const int axis = r.order[end];
    const bool mapped = r.mapped && *r.mapped == axis;
    axes.push_back({r.extents[axis], strides[axis], mapped, mapped ? r.map.inverse() : gf2::AffineMap()});
  }
  stride = element_bytes;
  for (const StridedAxis& axis : axes) in_target.push_back(std::exchange(stride, stride * axis.extent));
}

TargetAxes::TargetAxes(std::uint64_t bytes, const std::vector<kernel::Axis>& all) : element_bytes(bytes) {
  for (const auto& [length, source, target] : all) {
    if (length == 1) continue;
    if (axes.empty() && source.bytes == element_bytes && target.bytes == element_bytes) {
      element_bytes *= length;
    } else if (!axes.empty() && source.bytes == axes.back().extent * axes.back().stride &&
               target.bytes == axes.back().extent * in_target.back()) {
      axes.back().extent *= length;
    } else {
      axes.push_back({length, source.bytes, false, {}});
      in_target.push_back(target.bytes);
    }
  }
  // A row lies along the axis that follows the elements in the source, so there must be one.
  if (std::ranges::find(axes, element_bytes, &StridedAxis::stride) == axes.end()) {
    in_target.push_back(axes.empty() ? element_bytes : axes.back().extent * in_target.back());
    axes.push_back({1, element_bytes, false, {}});
  }
}

bool TargetAxes::is_plain() const {
  std::uint64_t next = element_bytes;
  for (std::size_t i = 0; i < axes.size(); next *= axes[i++].extent) {
    if (in_target[i] != next || static_cast<std::int64_t>(axes[i].stride) < 0) return false;
  }
  return true;
}

std::uint64_t TargetAxes::source_bytes() const {
  std::uint64_t bytes = element_bytes;
  for (const StridedAxis& axis : axes) bytes += (axis.extent - 1) * axis.stride;
  return bytes;
}

std::vector<kernel::Axis> TargetAxes::with_strides() const {
  std::vector<kernel::Axis> both;
  for (std::size_t i = 0; i < axes.size(); ++i)
    both.push_back({axes[i].extent, {0, axes[i].stride}, {0, in_target[i]}});
  return both;
}

Box::Box(const TargetAxes& target) : element_bytes(target.element_bytes) {
  const auto fastest = std::ranges::min_element(target.axes, {}, &StridedAxis::stride) - target.axes.begin();
  for (std::size_t i = 0; i < target.axes.size(); ++i) {
    const StridedAxis& axis = target.axes[i];
    const std::uint64_t stride = target.in_target[i];
    if (i == static_cast<std::size_t>(fastest)) {
      column_count = axis.extent;
      columns.push_back(
          {axis.extent, stride, axis.mapped, axis.mapped ? axis.map.inverse() : gf2::AffineMap()});
    } else if (columns.empty() && stride == run_length * element_bytes) {
      run_length *= axis.extent;
      run.push_back(axis);
    } else {
      outer.count *= axis.extent;
      outer.in_source.push_back(axis);
      outer.in_target.push_back({axis.extent, stride, false, {}});
    }
  }
}

bool Box::runs_adjacent() const {
  std::uint64_t stride = run_length * element_bytes;
  const auto is_next = [&](const StridedAxis& axis) {
    return !axis.mapped && axis.stride == std::exchange(stride, stride * axis.extent);
  };
  return std::ranges::all_of(columns, is_next) && std::ranges::all_of(outer.in_target, is_next);
}

void Box::shorten_run(std::size_t axes) {
  std::uint64_t length = 1;
  for (std::size_t i = 0; i < axes; ++i) length *= run[i].extent;
  std::uint64_t stride = length * element_bytes;
  std::vector<StridedAxis> in_target;
  for (std::size_t i = axes; i < run.size(); stride *= run[i++].extent)
    in_target.push_back({run[i].extent, stride, false, {}});
  outer.in_target.insert(outer.in_target.begin(), in_target.begin(), in_target.end());
  outer.in_source.insert(outer.in_source.begin(), run.begin() + static_cast<std::ptrdiff_t>(axes), run.end());
  outer.count *= run_length / length;
  run_length = length;
  run.resize(axes);
}

bool Box::pays_to_lengthen(std::uint64_t run_bytes) const {
  // Runs shorter than a line are not written past the cache.
  return run_bytes >= std::clamp<std::uint64_t>(4 * row_bytes(), line_bytes, short_run);
}

void Box::lengthen_rows() {
  constexpr std::uint64_t long_row = 1024;
  const auto is_next = [&](const StridedAxis& axis) { return !axis.mapped && axis.stride == row_bytes(); };
  while (row_bytes() < long_row) {
    auto next = std::ranges::find_if(outer.in_source, is_next);
    if (next == outer.in_source.end()) {
      const auto in_run = std::ranges::find_if(run, is_next);
      std::uint64_t rest = element_bytes;
      for (auto axis = run.begin(); axis != in_run; ++axis) rest *= axis->extent;
      if (in_run == run.end() || in_run == run.begin() || !pays_to_lengthen(rest)) return;
      shorten_run(static_cast<std::size_t>(in_run - run.begin()));
      next = outer.in_source.begin();
    }
    const auto in_target = outer.in_target.begin() + (next - outer.in_source.begin());
    columns.push_back(*in_target);
    column_count *= in_target->extent;
    outer.count /= in_target->extent;
    outer.in_source.erase(next);
    outer.in_target.erase(in_target);
  }
}

}  // namespace xorder::memory
