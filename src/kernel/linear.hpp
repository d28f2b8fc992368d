// The parts of the linear strategy: engines that permute 2^k elements or whole pieces.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "kernel/micro.hpp"
#include "kernel/micro_tiles.hpp"
#include "kernel/strategy.hpp"

namespace xorder::kernel {

/// Where the coordinates of the linear axis lie on one side.
struct LinearSide {
  LinearSide(int low, const Stride& stride)
      : shift(std::min(low, 63)),
        mask(gf2::low_mask(low)),
        run_stride(stride.runs),
        byte_stride(stride.bytes) {}

  std::uint64_t run(gf2::Word coordinate) const { return ((coordinate & ~mask) >> shift) * run_stride; }
  std::uint64_t byte(gf2::Word coordinate) const { return (coordinate & mask) * byte_stride; }

  int shift;
  gf2::Word mask;
  std::uint64_t run_stride;
  std::uint64_t byte_stride;
};

/// Goes through the tiles in counting order. A Gray-code order took almost three times as long (8-byte
/// transposition: 2.0 GB/s instead of 5.7): it never goes in one direction for long, so the hardware's
/// prefetchers cannot follow.
class Walk {
 public:
  Walk(const std::vector<MicroTiles::Step>& steps, gf2::Word offset) : target(offset), steps_(steps) {}
  std::uint64_t count() const { return std::uint64_t{1} << steps_.size(); }
  /// Must not be called after the last one.
  void advance() {
    const MicroTiles::Step& step = steps_[static_cast<std::size_t>(std::countr_zero(++at_))];
    source ^= step.source;
    target ^= step.target;
    segment ^= step.segment;
  }

  gf2::Word source = 0;
  gf2::Word target;
  gf2::Word segment = 0;

 private:
  std::uint64_t at_ = 0;
  const std::vector<MicroTiles::Step>& steps_;
};

/// A walk, and a second one some tiles ahead of it for prefetching.
class WalkAhead {
 public:
  WalkAhead(const std::vector<MicroTiles::Step>& steps, gf2::Word offset, std::uint64_t distance)
      : now_(steps, offset),
        ahead_(steps, offset),
        left_(now_.count()),
        ahead_left_(left_),
        distance_(distance) {}

  /// For each tile, calls fetch(source) about `distance` tiles ahead of visit(walk).
  template <class Fetch, class Visit>
  void run(const Fetch& fetch, const Visit& visit) {
    for (std::uint64_t i = 0; i < distance_ && ahead_left_ > 0; ++i) fetch_next(fetch);
    for (;;) {
      if (ahead_left_ > 0) fetch_next(fetch);
      visit(static_cast<const Walk&>(now_));
      if (--left_ == 0) return;
      now_.advance();
    }
  }

 private:
  template <class Fetch>
  void fetch_next(const Fetch& fetch) {
    fetch(ahead_.source);
    if (--ahead_left_ > 0) ahead_.advance();
  }

  Walk now_;
  Walk ahead_;
  std::uint64_t left_;
  std::uint64_t ahead_left_;
  std::uint64_t distance_;
};

class LinearEngine {
 public:
  LinearEngine() = default;
  LinearEngine(const LinearEngine&) = delete;
  LinearEngine& operator=(const LinearEngine&) = delete;
  virtual ~LinearEngine() = default;
  /// Copies `piece` bytes for each coordinate. Only engines for pieces use that argument.
  virtual void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t piece) const = 0;
};

/// For small elements (below large_piece in linear.cpp) that are next to each other on both sides.
std::unique_ptr<LinearEngine> make_linear_tiles(const LinearAxis& axis, std::uint64_t element_bytes,
                                                CopyFunction write);

/// For larger elements, wherever they are. If an offset has bits below `folded`, these permute the 2^folded
/// parts of each piece.
std::unique_ptr<LinearEngine> make_linear_pieces(const LinearAxis& axis, std::uint64_t element_bytes,
                                                 CopyFunction write, int folded);

}  // namespace xorder::kernel
