// What the strategies share: the group they permute, and the loop over outer axes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernel/kernel.hpp"

namespace xorder::kernel {

/// The arguments of one call of a Kernel.
struct Group {
  const std::byte* const* sources;
  std::byte* const* targets;
  std::span<const std::uint64_t> lengths;
  gf2::Word offset;
};

/// Where a piece lies on each side, relative to the beginning of a group.
struct Place {
  Stride source;
  Stride target;

  void advance(const Axis& axis, std::uint64_t steps = 1) {
    source.runs += steps * axis.source.runs;
    source.bytes += steps * axis.source.bytes;
    target.runs += steps * axis.target.runs;
    target.bytes += steps * axis.target.bytes;
  }
  void rewind(const Axis& axis, std::uint64_t steps) {
    source.runs -= steps * axis.source.runs;
    source.bytes -= steps * axis.source.bytes;
    target.runs -= steps * axis.target.runs;
    target.bytes -= steps * axis.target.bytes;
  }
};

/// Whether the axis continues a piece of `piece` bytes on both sides.
inline bool is_next_to(const Axis& axis, std::uint64_t piece) {
  return axis.source.runs == 0 && axis.target.runs == 0 && axis.source.bytes == piece &&
         axis.target.bytes == piece;
}

/// A list of axes without allocation. Axes of one coordinate are never pushed. There are fewer than 64
/// others, because the elements of a group have distinct addresses.
class AxisList {
 public:
  void push(const Axis& axis) { axes_[size_++] = axis; }
  void erase(std::size_t i) {
    for (--size_; i < size_; ++i) axes_[i] = axes_[i + 1];
  }
  std::size_t size() const { return size_; }
  const Axis& operator[](std::size_t i) const { return axes_[i]; }
  Axis* begin() { return axes_.data(); }
  Axis* end() { return axes_.data() + size_; }
  const Axis* begin() const { return axes_.data(); }
  const Axis* end() const { return axes_.data() + size_; }

 private:
  std::array<Axis, 64> axes_;
  std::size_t size_ = 0;
};

/// Calls visit(place) for every combination of coordinates, last axis fastest, starting at `place`. Requires
/// that no axis is empty.
template <class Visit>
void for_each_place(const AxisList& axes, Place place, const Visit& visit) {
  std::array<std::uint64_t, 64> at{};
  for (;;) {
    visit(static_cast<const Place&>(place));
    std::size_t i = axes.size();
    for (;; --i) {
      if (i == 0) return;
      const Axis& axis = axes[i - 1];
      if (++at[i - 1] < axis.length) {
        place.advance(axis);
        break;
      }
      at[i - 1] = 0;
      place.rewind(axis, axis.length - 1);
    }
  }
}

/// One way to permute groups of one layout. Immutable. run() allocates nothing.
class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;
  virtual const char* name() const = 0;
  virtual void run(const Group& group) const = 0;
};

/// Each returns null if it does not apply. The first one that applies is taken.
std::unique_ptr<Strategy> make_copy(const Layout& layout);
std::unique_ptr<Strategy> make_picked(const Layout& layout);
std::unique_ptr<Strategy> make_transpose(const Layout& layout);
std::unique_ptr<Strategy> make_linear(const Layout& layout);
std::unique_ptr<Strategy> make_one_by_one(const Layout& layout);

}  // namespace xorder::kernel
