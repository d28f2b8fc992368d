#include <cstdint>
#include <utility>
#include <vector>

#include "memory/bmmc/bmmc.hpp"
#include "memory/bmmc/bmmc_engine.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using kernel::Flat;
using kernel::LineTiles;
using kernel::NextLines;

class BufferedLines : public BmmcLines {
 public:
  BufferedLines(Mapped mapped, LineTiles tiles)
      : BmmcLines(std::move(mapped), std::move(tiles), true, ""),
        offsets_(kernel::source_offsets(mover_.tiles())) {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const Scratch buffer(mover_.buffer_bytes());
    for_each_tile(first, last, source, target, [&](const Tile& tile) {
      const Flat from{tile.from};
      mover_.read(from, tile.here, tile.ahead, buffer.data());
      mover_.write(Flat{tile.to}, tile.there, buffer.data(), NextLines(offsets_, from, tile.ahead));
    });
  }

 private:
  std::vector<std::uint64_t> offsets_;
};

}  // namespace

std::unique_ptr<Engine> make_buffered_lines(Mapped mapped, LineTiles tiles) {
  return std::make_unique<BufferedLines>(std::move(mapped), std::move(tiles));
}

}  // namespace xorder::memory
