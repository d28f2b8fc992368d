// The strategy for boxes of large pieces. A piece is an element together with the axes that are contiguous on
// both sides. The strategy applies if a piece is at least a line long, or if it is the whole box.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernel/box/box.hpp"
#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {
namespace {

// Another run counts as farther away than any number of bytes.
bool nearer(const Stride& a, const Stride& b) {
  return a.runs != b.runs ? a.runs < b.runs : a.bytes < b.bytes;
}

void move_to_end(AxisList& axes, Axis* axis) { std::rotate(axis, axis + 1, axes.end()); }

class Copy final : public Strategy {
 public:
  explicit Copy(const Layout& layout)
      : element_bytes_(layout.element_bytes), axes_(layout.axes), write_(copy_function(layout.streamed)) {}
  const char* name() const override { return "copy"; }
  void run(const Group& group) const override {
    copy_box(group, make_box(element_bytes_, axes_, group.lengths), write_);
    finish_streams();
  }

 private:
  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  CopyFunction write_;
};

}  // namespace

Box make_box(std::uint64_t element_bytes, std::span<const Axis> axes,
             std::span<const std::uint64_t> lengths) {
  Box box;
  box.piece = element_bytes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis axis = axes[i];
    axis.length = lengths[i];
    if (axis.length == 0) box.empty = true;
    if (axis.length > 1) box.axes.push(axis);
  }
  for (std::size_t i = 0; i < box.axes.size();) {
    if (is_next_to(box.axes[i], box.piece)) {
      box.piece *= box.axes[i].length;
      box.axes.erase(i);
      i = 0;
    } else {
      ++i;
    }
  }
  return box;
}

std::size_t axis_at(const Box& box, Stride Axis::*side, std::uint64_t bytes) {
  for (std::size_t i = 0; i < box.axes.size(); ++i) {
    const Stride& stride = box.axes[i].*side;
    if (stride.runs == 0 && stride.bytes == bytes) return i;
  }
  return no_axis;
}

void copy_box(const Group& group, const Box& box, CopyFunction write) {
  if (box.empty) return;
  const auto copy = [&](const Place& place) {
    std::byte* const to = group.targets[place.target.runs] + place.target.bytes;
    const std::byte* const from = group.sources[place.source.runs] + place.source.bytes;
    if (box.piece >= streamed_bytes) {
      write(to, from, box.piece);
    } else {
      std::memcpy(to, from, box.piece);
    }
  };
  AxisList axes = box.axes;
  if (axes.size() == 0) return copy({});
  // The innermost loop goes to the next piece of the target, the second one to the next piece of the source.
  // The innermost loop is cut into parts, so that the source pages it touches are still in the TLB when their
  // next pieces are needed.
  constexpr std::uint64_t pages = 64;
  move_to_end(axes, std::ranges::min_element(axes, nearer, &Axis::source));
  move_to_end(axes, std::ranges::min_element(axes, nearer, &Axis::target));
  Axis& inner = *(axes.end() - 1);
  const std::uint64_t length = inner.length;
  for (std::uint64_t done = 0; done < length; done += pages) {
    inner.length = std::min(pages, length - done);
    Place start;
    start.advance(inner, done);
    for_each_place(axes, start, copy);
  }
}

std::unique_ptr<Strategy> make_copy(const Layout& layout) {
  if (layout.linear) return nullptr;
  std::vector<std::uint64_t> lengths;
  for (const Axis& axis : layout.axes) lengths.push_back(axis.length);
  const Box box = make_box(layout.element_bytes, layout.axes, lengths);
  if (box.axes.size() > 0 && box.piece < line_bytes) return nullptr;
  return std::make_unique<Copy>(layout);
}

}  // namespace xorder::kernel
