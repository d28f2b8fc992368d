// Groups of small elements, line by line.
#include <bit>
#include <cassert>

#include "gf2/left_inverse.hpp"
#include "kernel/linear/line_mover.hpp"
#include "kernel/linear/linear.hpp"
#include "kernel/linear/tile_shape.hpp"
#include "kernel/linear/tile_walk.hpp"

namespace xorder::kernel {
namespace {

class LinearLines final : public LinearMover {
 public:
  /// Of runs and segments, if the map allows that much.
  static constexpr std::uint64_t source_bytes = 256, target_bytes = 512;

  /// `lg_offset` is lg of the bytes that an offset counts, which may be several elements.
  LinearLines(const LinearAxis& axis, std::uint64_t element_bytes, int lg_offset, TileShape shape,
              bool streamed)
      : lg_element_(std::countr_zero(element_bytes)),
        lg_offset_(lg_offset),
        source_(axis.source_low + lg_element_, {axis.source.runs, 1}),
        target_(axis.target_low + lg_element_, {axis.target.runs, 1}),
        walk_(axis.map, 0, shape, element_bytes),
        mover_(make_line_tiles(axis.map, lg_element_, shape), element_bytes, streamed, Fetching::far) {
    assert(mover_.buffer_bytes() <= buffer_size);
  }

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t) const override {
    const LinearPlace source(group.sources, place.source, source_);
    const LinearPlace target(group.targets, place.target, target_);
    alignas(line_bytes) std::byte buffer[buffer_size];
    TileWalk::Place next = walk_.at(0);
    for (std::uint64_t i = 0; i < walk_.tiles(); ++i) {
      const TileWalk::Place tile = next;
      walk_.advance(next);
      const std::uint64_t here = tile.source << lg_element_, ahead = next.source << lg_element_;
      const std::uint64_t there = tile.target << lg_element_ ^ offset << lg_offset_;
      if (mover_.in_runs()) {
        mover_.write_run(target, there, source(here), source(ahead), buffer);
      } else {
        mover_.read(source, here, ahead, buffer);
        mover_.write(target, there, buffer);
      }
    }
  }

 private:
  static constexpr std::uint64_t buffer_size = largest_tile + std::max(target_bytes, enough_bytes);

  int lg_element_, lg_offset_;
  LinearSide source_, target_;  // of bytes
  TileWalk walk_;
  LineMover mover_;
};

}  // namespace

// Runs of 256 bytes and segments of 512, and shorter runs where the tile would be too large. Tiles of single
// lines on both sides are up to half as fast: prefetching follows runs, not lines.
std::unique_ptr<LinearMover> make_linear_lines(const LinearAxis& whole, std::uint64_t whole_bytes,
                                               bool streamed) {
  if (!std::has_single_bit(whole_bytes)) return nullptr;
  constexpr std::uint64_t largest_element = 16;
  const std::uint64_t element = std::min(whole_bytes, largest_element);
  const LinearAxis axis = unfolded(whole, std::countr_zero(whole_bytes / element));
  const TileShape most = longest(axis);
  if (element << std::min(most.source_bits, most.target_bits) < line_bytes) return nullptr;
  const gf2::BitMatrix inverse = gf2::left_inverse(axis.map);
  TileShape shape = tile_shape(inverse, element, LinearLines::source_bytes, LinearLines::target_bytes, most);
  while (tile_bytes(inverse, element, shape) > largest_tile)
    --(element << shape.source_bits > line_bytes ? shape.source_bits : shape.target_bits);
  return std::make_unique<LinearLines>(axis, element, std::countr_zero(whole_bytes), shape, streamed);
}

}  // namespace xorder::kernel
