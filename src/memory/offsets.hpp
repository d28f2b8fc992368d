// Counts through several axes at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::memory {

/// An axis of one side, and where its coordinates lie on the other.
struct StridedAxis {
  std::uint64_t extent = 1;
  std::uint64_t stride = 0;  ///< bytes, on the other side
  bool mapped = false;
  gf2::AffineMap map;  ///< for a mapped axis: to the coordinates of the other side

  std::uint64_t offset(std::uint64_t coordinate) const {
    return (mapped ? map(coordinate) : coordinate) * stride;
  }
};

/// Iterates over the offsets of consecutive coordinates of some axes, fastest first.
class Offsets {
 public:
  Offsets(const std::vector<StridedAxis>& axes, std::uint64_t start) : axes_(axes) {
    if (axes.size() > std::size(few_)) many_.resize(axes.size());
    coordinate_ = many_.empty() ? few_ : many_.data();
    std::fill_n(coordinate_, axes.size(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (start == 0 && !axes[i].mapped) continue;  // common, and a division is slow
      coordinate_[i] = start % axes[i].extent;
      start /= axes[i].extent;
      offset_ += axes[i].offset(coordinate_[i]);
    }
  }

  Offsets(const Offsets&) = delete;
  Offsets& operator=(const Offsets&) = delete;

  std::uint64_t operator*() const { return offset_; }
  /// Stores the next `count` offsets and moves on.
  void take(std::uint64_t* offsets, std::size_t count) {
    while (count != 0 && !axes_.empty() && !axes_[0].mapped) {
      const StridedAxis& fastest = axes_[0];
      const std::size_t some = std::min<std::uint64_t>(count, fastest.extent - coordinate_[0]);
      for (std::size_t i = 0; i < some; ++i) offsets[i] = offset_ + i * fastest.stride;
      offset_ += (some - 1) * fastest.stride;
      coordinate_[0] += some - 1;
      ++*this;
      offsets += some;
      count -= some;
    }
    for (; count != 0; --count, ++*this) *offsets++ = offset_;
  }
  /// After the last coordinates it wraps to the first ones.
  Offsets& operator++() {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const StridedAxis& axis = axes_[i];
      const std::uint64_t before = coordinate_[i]++;
      const bool wraps = coordinate_[i] == axis.extent;
      if (wraps) coordinate_[i] = 0;
      offset_ += axis.offset(coordinate_[i]) - axis.offset(before);
      if (!wraps) break;
    }
    return *this;
  }

 private:
  const std::vector<StridedAxis>& axes_;
  std::uint64_t* coordinate_;
  std::uint64_t few_[4];  // avoids an allocation in usual cases
  std::vector<std::uint64_t> many_;
  std::uint64_t offset_ = 0;
};

}  // namespace xorder::memory
