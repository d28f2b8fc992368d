#include <fmt/format.h>

#include <bit>
#include <utility>

#include "kernel/line_mover.hpp"
#include "memory/bmmc.hpp"
#include "memory/bmmc_engine.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using kernel::Fetching;
using kernel::Flat;
using kernel::LineMover;
using kernel::LinePermutation;
using kernel::LineTiles;
using kernel::NextLines;

class Lines : public BmmcEngine {
 public:
  Lines(Mapped mapped, TileShape shape, bool streamed)
      : BmmcEngine(std::move(mapped), shape),
        mover_(line_tiles(shape), mapped_.element_bytes, streamed,
               shape.large ? Fetching::while_writing : Fetching::near),
        streamed_(streamed),
        large_(shape.large),
        lg_element_(std::countr_zero(mapped_.element_bytes)) {
    direct_ =
        !streamed && !mover_.in_runs() && 2 * mapped_.bytes() * mapped_.outer_count <= cache_sizes().second;
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    if (direct_) {
      for_each_map(first, last, source, target,
                   [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                     for (std::uint64_t i = 0; i < tiles_per_task_; ++i, walk_.advance(place))
                       mover_.move(from, place.source << lg_element_, to, place.target << lg_element_);
                   });
      return;
    }
    Scratch buffer(mover_.buffer_bytes());
    for_each_map(
        first, last, source, target, [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
          TileWalk::Place next = place;
          for (std::uint64_t i = 0; i < tiles_per_task_; ++i, place = next) {
            walk_.advance(next);
            const std::uint64_t here = place.source << lg_element_, there = place.target << lg_element_;
            const std::uint64_t ahead = next.source << lg_element_;
            if (mover_.in_runs()) {
              mover_.write_run(Flat{to}, there, from + here, from + ahead, buffer.data());
              continue;
            }
            mover_.read(Flat{from}, here, ahead, buffer.data());
            if (large_) {
              mover_.write(Flat{to}, there, buffer.data(), NextLines(mover_.tiles(), Flat{from}, ahead));
            } else {
              mover_.write(Flat{to}, there, buffer.data());
            }
          }
        });
  }

  std::string describe() const override {
    const LineTiles& tiles = mover_.tiles();
    return fmt::format(
        "map of {} bits, elements of {} bytes; tiles of {} segments of {} bytes, {} lines across{}{}{}",
        mapped_.map.bits(), mapped_.element_bytes, tiles.segments.size(), mover_.segment_bytes(),
        1 << tiles.lg_lines, tiles.before.kind == LinePermutation::none ? "" : ", permuted before",
        tiles.after[0].kind == LinePermutation::none ? "" : ", permuted after",
        streamed_ ? ", streamed"
        : direct_ ? ", direct"
                  : "");
  }

 private:
  LineMover mover_;
  bool streamed_;
  bool large_;   // the next tile is fetched while one is written
  bool direct_;  // arrays in the cache: tiles go to their places without a buffer
  int lg_element_;
};

}  // namespace

std::unique_ptr<Engine> make_bmmc_lines(Mapped mapped, TileShape shape, bool streamed) {
  return std::make_unique<Lines>(std::move(mapped), shape, streamed);
}

}  // namespace xorder::memory
