// The engines that move a map's lines without a buffer for the tile: direct lines in the cache, streamed
// lines past it, and line runs, where a tile is one run whose lines are permuted one by one.
#include <cstdint>
#include <utility>

#include "memory/bmmc/bmmc.hpp"
#include "memory/bmmc/bmmc_engine.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

class DirectLines : public BmmcLines {
 public:
  DirectLines(Mapped mapped, kernel::LineTiles tiles, bool streamed)
      : BmmcLines(std::move(mapped), std::move(tiles), streamed, ", direct") {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    for_each_tile(first, last, source, target, [&](const Tile& tile) {
      mover_.move(tile.from, tile.here, tile.ahead, tile.to, tile.there);
    });
  }
};

// The buffer is for targets that begin within a line.
class LineRuns : public BmmcLines {
 public:
  LineRuns(Mapped mapped, kernel::LineTiles tiles, bool streamed)
      : BmmcLines(std::move(mapped), std::move(tiles), streamed, "") {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const Scratch buffer(mover_.buffer_bytes());
    for_each_tile(first, last, source, target, [&](const Tile& tile) {
      mover_.write_run(kernel::Flat{tile.to}, tile.there, tile.from + tile.here, tile.from + tile.ahead,
                       buffer.data());
    });
  }
};

}  // namespace

std::unique_ptr<Engine> make_line_runs(Mapped mapped, kernel::LineTiles tiles, bool streamed) {
  return std::make_unique<LineRuns>(std::move(mapped), std::move(tiles), streamed);
}

std::unique_ptr<Engine> make_direct_lines(Mapped mapped, kernel::LineTiles tiles) {
  return std::make_unique<DirectLines>(std::move(mapped), std::move(tiles), false);
}

std::unique_ptr<Engine> make_streamed_lines(Mapped mapped, kernel::LineTiles tiles) {
  return std::make_unique<DirectLines>(std::move(mapped), std::move(tiles), true);
}

}  // namespace xorder::memory
