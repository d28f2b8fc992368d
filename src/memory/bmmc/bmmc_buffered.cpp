#include <algorithm>
#include <optional>
#include <utility>

#include "kernel/linear/line_gather.hpp"
#include "memory/bmmc/bmmc.hpp"
#include "memory/bmmc/bmmc_engine.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using kernel::Flat;
using kernel::LineGather;
using kernel::LineTiles;
using kernel::NextGathered;
using kernel::NextLines;

class BufferedLines : public BmmcLines {
 public:
  BufferedLines(Mapped mapped, LineTiles tiles) : BmmcLines(std::move(mapped), std::move(tiles), true, "") {
    const std::uint64_t run_bytes = mapped_.element_bytes << mover_.tiles().shape.source_bits;
    if (!loses_prefetched_lines(run_bytes)) return;
    gather_.emplace(mover_.tiles(), run_bytes);
    how_ = ", gathered";
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const Scratch buffer(mover_.buffer_bytes() + (gather_ ? gather_->buffer_bytes() : 0));
    if (gather_) return perform_gathered(first, last, source, target, buffer.data());
    for_each_tile(first, last, source, target, [&](const Tile& tile) {
      const Flat from{tile.from};
      mover_.read(from, tile.here, tile.ahead, buffer.data());
      mover_.write(Flat{tile.to}, tile.there, buffer.data(), NextLines(mover_.tiles(), from, tile.ahead));
    });
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
    for_each_tile(first, last, source, target, [&](const Tile& tile) {
      if (ready != tile.from + tile.here) gather_->copy(tile.from, tile.here, 0, gather_->lines(), gathered);
      mover_.read_gathered(gathered, gather_->places(), buffer);
      // After the last tile this is the same one again, which nobody needs.
      mover_.write(Flat{tile.to}, tile.there, buffer,
                   NextGathered(*gather_, tile.from, tile.ahead, gathered));
      ready = tile.from + tile.ahead;
    });
  }

  std::optional<LineGather> gather_;  // of the next tile, instead of prefetching it
};

}  // namespace

std::unique_ptr<Engine> make_buffered_lines(Mapped mapped, LineTiles tiles) {
  return std::make_unique<BufferedLines>(std::move(mapped), std::move(tiles));
}

}  // namespace xorder::memory
