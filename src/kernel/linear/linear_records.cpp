// Groups of small elements of any size, see record_mover.hpp.
#include <cassert>

#include "gf2/left_inverse.hpp"
#include "kernel/linear/linear.hpp"
#include "kernel/linear/record_mover.hpp"
#include "kernel/linear/tile_shape.hpp"
#include "kernel/linear/tile_walk.hpp"

namespace xorder::kernel {
namespace {

constexpr std::size_t longest_run = 4096;

class LinearRecords final : public LinearMover {
 public:
  LinearRecords(const LinearAxis& axis, std::uint64_t element_bytes, TileShape shape, bool streamed)
      : source_(axis.source_low, axis.source),
        target_(axis.target_low, axis.target),
        walk_(axis.map, 0, shape, element_bytes),
        mover_(axis.map, element_bytes, shape, streamed) {
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
      mover_.move(source, tile.source, next.source, target, tile.target ^ offset, false, buffer);
    }
  }

 private:
  static constexpr std::size_t buffer_size = 2 * largest_tile + longest_run;

  LinearSide source_, target_;
  TileWalk walk_;
  RecordMover mover_;
};

}  // namespace

std::unique_ptr<LinearMover> make_linear_records(const LinearAxis& axis, std::uint64_t element_bytes,
                                                 bool streamed) {
  const TileShape shape =
      largest_shape(gf2::left_inverse(axis.map), element_bytes, longest_run, largest_tile, longest(axis));
  return std::make_unique<LinearRecords>(axis, element_bytes, shape, streamed);
}

}  // namespace xorder::kernel
