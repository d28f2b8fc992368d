// Groups of large elements. Whole pieces are copied, in an order that stays within a page where possible.
#include <cstring>

#include "kernel/linear/linear.hpp"
#include "kernel/linear/tile_walk.hpp"

namespace xorder::kernel {
namespace {

class LinearPieces final : public LinearMover {
 public:
  LinearPieces(const LinearAxis& axis, std::uint64_t element_bytes, bool streamed)
      : write_(copy_function(streamed)),
        source_(axis.source_low, axis.source),
        target_(axis.target_low, axis.target),
        walk_(axis.map, 0, {}, element_bytes) {}

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t piece) const override {
    const LinearPlace source(group.sources, place.source, source_);
    const LinearPlace target(group.targets, place.target, target_);
    // The first lines of a piece suffice, since the hardware then prefetches the rest.
    const std::uint64_t fetched = std::min<std::uint64_t>(piece, 4 * line_bytes);
    const std::uint64_t distance =
        std::min(walk_.tiles() - 1, std::max<std::uint64_t>(1, 1024 / std::max<std::uint64_t>(piece, 1)));
    TileWalk::Place ahead = walk_.at(distance);
    TileWalk::Place at = walk_.at(0);
    for (std::uint64_t i = 0; i < walk_.tiles(); ++i, walk_.advance(at)) {
      if (ahead.index < walk_.tiles()) {
        const std::byte* const from = source(ahead.source);
        for (std::uint64_t line = 0; line < fetched; line += line_bytes) prefetch(from + line);
        walk_.advance(ahead);
      }
      std::byte* const to = target(at.target ^ offset);
      if (piece >= streamed_bytes) {
        write_(to, source(at.source), piece);
      } else {
        std::memcpy(to, source(at.source), piece);
      }
    }
  }

 private:
  CopyFunction write_;
  LinearSide source_;
  LinearSide target_;
  TileWalk walk_;
};

}  // namespace

std::unique_ptr<LinearMover> make_linear_pieces(const LinearAxis& axis, std::uint64_t element_bytes,
                                                bool streamed) {
  return std::make_unique<LinearPieces>(axis, element_bytes, streamed);
}

}  // namespace xorder::kernel
