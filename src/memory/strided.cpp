#include "memory/strided.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::memory {
namespace {

using Steps = std::span<const StridedArray::Axis>;

// The strides, which an empty array may have as it likes.
std::vector<std::int64_t> checked_strides(const ArrayShape& shape, const char* what) {
  std::vector<std::int64_t> strides = strides_of(shape);
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("{} of shape ({}) with strides ({}) of {}: {}", what,
                                 fmt::join(shape.extents, ", "), fmt::join(strides, ", "),
                                 count_text(shape.element_bytes, "byte"), reason));
  };
  if (strides.size() != shape.extents.size()) refuse("each axis needs one stride");
  if (checked_bytes(shape) == 0) return strides;
  const std::string wrong = wrong_strides({shape.extents, shape.element_bytes, Order::c, strides});
  if (!wrong.empty()) refuse(wrong);
  return strides;
}

StridedArray strided_array(const std::vector<std::uint64_t>& extents,
                           const std::vector<std::int64_t>& strides) {
  StridedArray array;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    const auto extent = static_cast<std::int64_t>(extents[i]);
    array.begin += std::min<std::int64_t>(0, (extent - 1) * strides[i]);
    array.axes.push_back({extent, std::abs(strides[i])});
  }
  std::ranges::sort(array.axes, std::greater(), &StridedArray::Axis::stride);
  return array;
}

void turn(kernel::Axis& axis, StridedCopy& copy) {
  const auto turned = [&](std::uint64_t& stride) {
    const std::uint64_t far = (axis.length - 1) * stride;
    stride = -stride;
    return static_cast<std::int64_t>(far);
  };
  copy.source_start += turned(axis.source.bytes);
  copy.target_start += turned(axis.target.bytes);
}

std::int64_t reach(Steps axes, std::int64_t element_bytes) {
  for (const auto& [extent, stride] : axes) element_bytes += (extent - 1) * stride;
  return element_bytes;
}

// Whether two arrays share bytes. `b` begins `distance` bytes behind `a`.
bool share(Steps a, Steps b, std::int64_t element_bytes, std::int64_t distance) {
  if (distance >= reach(a, element_bytes) || distance <= -reach(b, element_bytes)) return false;
  if (a.empty() && b.empty()) return true;
  // Within each period of the longest step lies what is left of both without it, of an array that has no such
  // step the whole.
  const std::int64_t step = std::max(a.empty() ? 0 : a[0].stride, b.empty() ? 0 : b[0].stride);
  const auto periods = [step](Steps& axes) {
    if (axes.empty() || axes[0].stride != step) return std::int64_t{1};
    const std::int64_t extent = axes[0].extent;
    axes = axes.subspan(1);
    return extent;
  };
  const std::int64_t of_a = periods(a), of_b = periods(b);
  if (reach(a, element_bytes) > step || reach(b, element_bytes) > step) return true;  // or cannot be told
  const std::int64_t behind = (distance % step + step) % step, between = (distance - behind) / step;
  const auto meet = [&](std::int64_t apart) { return -of_b < apart && apart < of_a; };
  return (meet(between) && share(a, b, element_bytes, behind)) ||
         (meet(between + 1) && share(a, b, element_bytes, behind - step));
}

}  // namespace

StridedCopy::StridedCopy(const ArrayShape& from, std::span<const int> order,
                         const std::vector<std::int64_t>& target_strides)
    : bytes(checked_bytes(from)), element_bytes(from.element_bytes), axes(from.element_bytes, {}) {
  const std::vector<int> source_axes = transposition({from.extents, element_bytes}, order).order;
  const ArrayShape to{transposed_extents(from, order), element_bytes, Order::c, target_strides};
  const auto source_steps = checked_strides(from, "a source"), target_steps = checked_strides(to, "a target");
  if (bytes == 0) return;
  source = strided_array(from.extents, source_steps);
  target = strided_array(to.extents, target_steps);
  std::vector<kernel::Axis> both;
  for (std::size_t i = 0; i < source_axes.size(); ++i) {
    both.push_back({to.extents[i],
                    {0, static_cast<std::uint64_t>(source_steps[source_axes[i]])},
                    {0, static_cast<std::uint64_t>(target_steps[i])}});
    if (target_steps[i] < 0) turn(both.back(), *this);
  }
  std::ranges::sort(both, {}, [](const kernel::Axis& axis) { return axis.target.bytes; });
  axes = TargetAxes(element_bytes, both);  // merged
  both = axes.with_strides();
  for (kernel::Axis& axis : both) {
    if (axis.source.bytes == -axes.element_bytes && axis.target.bytes != axes.element_bytes)
      turn(axis, *this);
  }
  axes = TargetAxes(axes.element_bytes, both);
}

bool StridedCopy::overlap(const std::byte* from, const std::byte* to) const {
  const auto address = [](const std::byte* at, std::int64_t begin) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at)) + begin;
  };
  return bytes != 0 && share(source.axes, target.axes, static_cast<std::int64_t>(element_bytes),
                             address(to, target.begin) - address(from, source.begin));
}

}  // namespace xorder::memory
