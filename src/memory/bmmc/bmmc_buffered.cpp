// The engine for buffered lines: past the cache, from the source's lines to a buffer, which stays in the
// first-level cache, and from there to streaming stores of whole segments.
//
// While a tile is written, the processor would read nothing. So the next one is prefetched meanwhile. Where
// its lines share few sets of the cache and would evict each other, they are gathered instead: copied side by
// side.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/linear/line_gather.hpp"
#include "memory/bmmc/bmmc.hpp"
#include "memory/bmmc/bmmc_engine.hpp"
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
  BufferedLines(Mapped mapped, LineTiles tiles, bool gathered)
      : BmmcLines(std::move(mapped), std::move(tiles), true, gathered ? ", gathered" : "") {
    if (gathered)
      gather_.emplace(mover_.tiles(), mapped_.element_bytes << mover_.tiles().shape.source_bits);
    else
      offsets_ = kernel::source_offsets(mover_.tiles());
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const Scratch buffer(mover_.buffer_bytes() + (gather_ ? gather_->buffer_bytes() : 0));
    if (gather_) return perform_gathered(first, last, source, target, buffer.data());
    for_each_tile(first, last, source, target, [&](const Tile& tile) {
      const Flat from{tile.from};
      mover_.read(from, tile.here, tile.ahead, buffer.data());
      mover_.write(Flat{tile.to}, tile.there, buffer.data(), NextLines(offsets_, from, tile.ahead));
    });
  }

 private:
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

  std::vector<std::uint64_t> offsets_;  // of a tile's lines, to prefetch the next tile
  std::optional<LineGather> gather_;    // of the next tile, instead of prefetching it
};

}  // namespace

std::unique_ptr<Engine> make_buffered_lines(Mapped mapped, LineTiles tiles, bool gathered) {
  return std::make_unique<BufferedLines>(std::move(mapped), std::move(tiles), gathered);
}

}  // namespace xorder::memory
