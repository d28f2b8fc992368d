// The strategy for boxes whose matrices are so small that picking elements by a table takes less time than
// transposing (pick_tiles.hpp). It takes a few rows that are interleaved, or many small matrices.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "kernel/box/box.hpp"
#include "kernel/box/pick_tiles.hpp"
#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {
namespace {

constexpr TileGoal goal{.run = 2048, .largest_tile = 16 * 1024, .limits_runs = true};
constexpr std::size_t most_buffered = 48 * 1024;  // on the stack

class Picked final : public Strategy {
 public:
  Picked(PickTiles tiles, const Layout& layout, std::unique_ptr<Strategy> for_edges)
      : tiles_(std::move(tiles)),
        layout_axes_(layout.axes),
        element_bytes_(layout.element_bytes),
        write_(copy_function(layout.streamed)),
        for_edges_(std::move(for_edges)) {}
  const char* name() const override { return "picked"; }

  void run(const Group& group) const override {
    const Box box = make_box(element_bytes_, layout_axes_, group.lengths);
    if (box.empty) return;
    std::array<std::uint64_t, 64> lengths;
    if (!find_lengths(box, lengths)) return for_edges_->run(group);
    permute(group, {lengths.data(), box.axes.size()});
    finish_streams();
  }

 private:
  // The box's lengths in the order of the tiles' axes. False if an edge has other tiles.
  bool find_lengths(const Box& box, std::array<std::uint64_t, 64>& lengths) const {
    if (box.piece != tiles_.element_bytes() || box.axes.size() != tiles_.axes().size()) return false;
    for (std::size_t i = 0; i < box.axes.size(); ++i) {
      const Axis& axis = tiles_.axes()[i];
      const auto* const found = std::ranges::find_if(
          box.axes, [&](const Axis& a) { return a.source == axis.source && a.target == axis.target; });
      if (found == box.axes.end()) return false;
      lengths[i] = found->length;
    }
    return tiles_.fit({lengths.data(), box.axes.size()});
  }

  // Not part of run(), which would then have the buffer on its stack at edges too.
  [[gnu::noinline]] void permute(const Group& group, std::span<const std::uint64_t> lengths) const {
    alignas(line_bytes) std::byte buffer[most_buffered];
    std::byte* const collected = buffer + tiles_.row_buffer();
    PickTiles::Walk walk(tiles_, lengths);
    do {
      const PickTiles::Tile tile = walk.tile();
      for (std::size_t s = 0; s < tile.rows; ++s) {
        const Stride& at = tiles_.rows()[s];
        std::memcpy(buffer + s * tiles_.row_pitch(),
                    group.sources[tile.source.runs + at.runs] + tile.source.bytes + at.bytes,
                    tile.row * tiles_.element_bytes());
      }
      for (std::size_t r = 0; r < tile.runs; ++r) {
        const Stride& at = tiles_.runs()[r];
        std::byte* const run = collected + r * tiles_.run_pitch();
        tiles_.picker().pick(run, buffer + tiles_.starts()[r], tile.run);
        write_(group.targets[tile.target.runs + at.runs] + tile.target.bytes + at.bytes, run,
               tile.run * tiles_.element_bytes());
      }
    } while (walk.advance());
  }

  PickTiles tiles_;
  std::vector<Axis> layout_axes_;
  std::uint64_t element_bytes_;
  CopyFunction write_;
  std::unique_ptr<Strategy> for_edges_;
};

}  // namespace

std::unique_ptr<Strategy> make_picked(const Layout& layout) {
  if (layout.linear) return nullptr;
  std::vector<std::uint64_t> lengths;
  for (const Axis& axis : layout.axes) lengths.push_back(axis.length);
  Box box = make_box(layout.element_bytes, layout.axes, lengths);
  if (box.empty || box.axes.size() < 2 || box.piece >= line_bytes) return nullptr;
  std::ranges::sort(box.axes, {}, [](const Axis& a) { return std::pair(a.target.runs, a.target.bytes); });
  const double without = matrix_cycles(box);
  if (without <= PickTiles::least_cycles(box.piece)) return nullptr;
  PickTiles tiles(box.piece, box.axes, goal);
  if (tiles.row_buffer() + tiles.run_buffer() > most_buffered || tiles.cycles() >= without) return nullptr;
  return std::make_unique<Picked>(std::move(tiles), layout, make_transpose(layout));
}

}  // namespace xorder::kernel
