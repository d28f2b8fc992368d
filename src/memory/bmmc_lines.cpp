#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "kernel/line_gather.hpp"
#include "kernel/line_mover.hpp"
#include "memory/bmmc.hpp"
#include "memory/bmmc_engine.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using kernel::Fetching;
using kernel::Flat;
using kernel::LineGather;
using kernel::LineMover;
using kernel::LinePermutation;
using kernel::LineTiles;
using kernel::NextGathered;
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
    const std::uint64_t run_bytes = mapped_.element_bytes << shape.source_bits;
    direct_ = !mover_.in_runs() && written_directly(mapped_.bytes() * mapped_.outer_count);
    if (large_ && !direct_ && loses_prefetched_lines(run_bytes)) gather_.emplace(mover_.tiles(), run_bytes);
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
    Scratch buffer(mover_.buffer_bytes() + (gather_ ? gather_->buffer_bytes() : 0));
    if (gather_) {
      perform_gathered(first, last, source, target, buffer.data());
      return;
    }
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
        "map of {} bits, elements of {} bytes; tiles of {} segments of {} bytes, {} lines across{}{}{}{}",
        mapped_.map.bits(), mapped_.element_bytes, tiles.segments.size(), mover_.segment_bytes(),
        1 << tiles.lg_lines, tiles.before.kind == LinePermutation::none ? "" : ", permuted before",
        tiles.after[0].kind == LinePermutation::none ? "" : ", permuted after", gather_ ? ", gathered" : "",
        direct_     ? ", direct"
        : streamed_ ? ", streamed"
                    : "");
  }

 private:
  // Whether gathering the next tile is better than prefetching it. All its runs must begin at the same place
  // in the ways of the second-level cache (there are eight on most processors), so that hardly any prefetched
  // line stays there. Those of single bytes are read more than once, and the first level does not keep them
  // either. Those of larger elements can come from the third level, unless the array is so large that they
  // have left that too. (Bit reversal on AMD Zen 4, prefetched and gathered, GB/s. 1 byte: 256 MiB 3.7, 5.3;
  // 1 GiB 2.9, 4.2; 2 GiB 2.9, 4.0. 8 bytes: 256 MiB 7.1, 6.2; 512 MiB 4.6, 5.2; 1 GiB 4.6, 5.7; 2 GiB 3.7,
  // 5.5. A random map of 8 bytes, 1 GiB: 8.0, 5.0.)
  bool loses_prefetched_lines(std::uint64_t run_bytes) const {
    constexpr std::uint64_t ways = 8;
    const std::uint64_t way = cache_sizes().second / ways;
    const auto collides = [&](std::uint64_t line) { return line % way < run_bytes; };
    const LineTiles& tiles = mover_.tiles();
    return (mapped_.element_bytes == 1 || mapped_.bytes() >= 16 * cache_sizes().third) &&
           std::ranges::all_of(tiles.line_tiles, collides) &&
           std::ranges::all_of(tiles.source_lines, collides);
  }

  // Each tile is gathered while the one before is written, across tasks.
  void perform_gathered(std::uint64_t first, std::uint64_t last, const std::byte* source, std::byte* target,
                        std::byte* buffer) const {
    std::byte* const gathered = buffer + mover_.buffer_bytes();
    const std::byte* ready = nullptr;  // the tile that is gathered
    for_each_map(first, last, source, target,
                 [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                   for (std::uint64_t i = 0; i < tiles_per_task_; ++i) {
                     const std::uint64_t here = place.source << lg_element_;
                     const std::uint64_t there = place.target << lg_element_;
                     if (ready != from + here) gather_->copy(from, here, 0, gather_->lines(), gathered);
                     mover_.read_gathered(gathered, gather_->places(), buffer);
                     walk_.advance(place);
                     // After the last tile this is the same one again, which nobody needs.
                     const std::uint64_t ahead = place.source << lg_element_;
                     mover_.write(Flat{to}, there, buffer, NextGathered(*gather_, from, ahead, gathered));
                     ready = from + ahead;
                   }
                 });
  }

  LineMover mover_;
  std::optional<LineGather> gather_;  // of the next tile, instead of prefetching it
  bool streamed_;
  bool large_;   // the next tile is fetched while one is written
  bool direct_;  // tiles go through the cache to their places, without a buffer
  int lg_element_;
};

}  // namespace

std::unique_ptr<Engine> make_bmmc_lines(Mapped mapped, TileShape shape, bool streamed) {
  return std::make_unique<Lines>(std::move(mapped), shape, streamed);
}

}  // namespace xorder::memory
