// Groups of large elements. Whole pieces are copied, in an order that stays within a page where possible.
#include "kernel/elements.hpp"
#include "kernel/linear.hpp"
#include "kernel/micro.hpp"

namespace xorder::kernel {
namespace {

class LinearPieces final : public LinearEngine {
 public:
  LinearPieces(const LinearAxis& axis, std::uint64_t element_bytes, CopyFunction write, int folded)
      : write_(write),
        source_{axis.source_low, axis.source},
        target_{axis.target_low, axis.target},
        folded_(folded),
        tiles_(make_micro_tiles(axis.map, axis.source_low, axis.target_low, 0, element_bytes)) {}

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t piece) const override {
    const gf2::Word swap = offset & gf2::low_mask(folded_);
    const std::byte* const* const sources = group.sources + place.source.runs;
    std::byte* const* const targets = group.targets + place.target.runs;
    const auto source_of = [&](gf2::Word h) {
      return sources[source_.run(h)] + place.source.bytes + source_.byte(h);
    };
    // The first lines of a piece suffice, since the hardware then prefetches the rest.
    const std::uint64_t fetched = std::min<std::uint64_t>(piece, 4 * line_bytes);
    const std::uint64_t distance = std::max<std::uint64_t>(1, 1024 / std::max<std::uint64_t>(piece, 1));
    WalkAhead(tiles_.steps, offset >> folded_, distance)
        .run(
            [&](gf2::Word h) {
              const std::byte* const from = source_of(h);
              for (std::uint64_t i = 0; i < fetched; i += line_bytes) prefetch(from + i);
            },
            [&](const Walk& at) {
              std::byte* const to =
                  targets[target_.run(at.target)] + place.target.bytes + target_.byte(at.target);
              copy(to, source_of(at.source), piece, swap);
            });
  }

 private:
  void copy(std::byte* to, const std::byte* from, std::uint64_t piece, gf2::Word swap) const {
    if (swap == 0) {
      if (piece >= streamed_bytes) {
        write_(to, from, piece);
      } else {
        std::memcpy(to, from, piece);
      }
      return;
    }
    const std::uint64_t part = piece >> folded_;
    if (std::has_single_bit(part) && piece >= 16) {
      copy_xored(to, from, piece, swap * part);
      return;
    }
    for (gf2::Word i = 0; i < gf2::unit(folded_); ++i)
      std::memcpy(to + (i ^ swap) * part, from + i * part, part);
  }

  CopyFunction write_;
  LinearSide source_;
  LinearSide target_;
  int folded_;
  MicroTiles tiles_;
};

}  // namespace

std::unique_ptr<LinearEngine> make_linear_pieces(const LinearAxis& axis, std::uint64_t element_bytes,
                                                 CopyFunction write, int folded) {
  return std::make_unique<LinearPieces>(axis, element_bytes, write, folded);
}

}  // namespace xorder::kernel
