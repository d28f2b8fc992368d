// The engine "nested": past the cache, where rows and runs are so short that no blocks fit. A tile is then
// itself a small box with several axes, so it is permuted into a buffer by the engine that is best for such a
// box in the cache.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "kernel/box/box_tiles.hpp"
#include "memory/box/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

using kernel::BoxTiles;
using kernel::TileGoal;

std::vector<std::uint64_t> bytes_of(const std::vector<kernel::Stride>& places) {
  std::vector<std::uint64_t> bytes;
  for (const kernel::Stride& place : places) bytes.push_back(place.bytes);
  return bytes;
}

// A tile is permuted from the source into a buffer, where its runs follow each other, and these are written
// past the cache. The tiles at the ends of axes are smaller, so there are engines for up to four sizes.
class Nested : public Engine {
 public:
  explicit Nested(const TargetAxes& target)
      : tiles_(target.element_bytes, target.with_strides(), goal()),
        tile_count_(tiles_.tile_count()),
        tiles_per_task_(std::max<std::uint64_t>(1, task_bytes / tiles_.tile_bytes())),
        rows_(bytes_of(tiles_.rows())),
        runs_(bytes_of(tiles_.runs())),
        write_(rows_out_function(true)) {
    std::vector<std::uint64_t> lengths;
    for (const BoxTiles::Part& part : tiles_.parts()) lengths.push_back(part.length);
    permuters_.emplace_back(tiles_, std::move(lengths));
  }

  /// An estimate for each element: reading it and writing it past the cache, beginning a tile, asking for a
  /// row and beginning a run take their time besides. (Checked with 300 random arrays of 30 MB.)
  double cycles() const {
    const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
    const double w = real(tiles_.element_bytes()), elements = real(tiles_.tile_bytes()) / w;
    constexpr double byte = 0.13, tile = 200, row = 10, run = 30;
    return permuters_.front().cycles + byte * w +
           (tile + row * real(rows_.size()) + run * real(runs_.size())) / elements;
  }

  /// Makes what else is needed to perform it.
  void complete() {
    for (std::size_t i = 0; i < tiles_.parts().size(); ++i) {
      const std::uint64_t rest = tiles_.axes()[i].length % tiles_.parts()[i].length;
      if (rest == 0) continue;
      for (std::size_t whole = 0, end = permuters_.size(); whole < end; ++whole) {
        std::vector<std::uint64_t> lengths = permuters_[whole].lengths;
        lengths[i] = rest;
        permuters_.emplace_back(tiles_, std::move(lengths));
      }
    }
  }

  std::uint64_t tasks() const override { return ceil_div(tile_count_, tiles_per_task_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = std::min(tile_count_, first * tiles_per_task_),
                        end = std::min(tile_count_, last * tiles_per_task_);
    if (begin >= end) return;
    const std::uint64_t w = tiles_.element_bytes();
    Scratch buffer(tiles_.tile_bytes());
    BoxTiles::Walk walk(tiles_, begin);
    BoxTiles::Tile next = walk.tile();
    for (std::uint64_t t = begin; t < end; ++t) {
      const BoxTiles::Tile tile = next;
      const Engine& engine = permuter_for(tile);
      engine.perform(0, engine.tasks(), source + tile.source.bytes, buffer.data());
      NextTile fetched;
      if (t + 1 < end) {
        walk.advance();
        next = walk.tile();
        fetched = NextTile(source + next.source.bytes, rows_.data(), next.rows, next.row * w);
      }
      const std::uint64_t run = tile.run * w;
      write_tile_to(runs_.data(),
                    {target + tile.target.bytes, 0, buffer.data(), run, tile.runs, run, true, true}, fetched,
                    write_);
    }
  }

  std::string describe() const override {
    return fmt::format("{}; in tiles of {} rows and {} runs, {} bytes, streamed",
                       permuters_.front().engine->describe(), rows_.size(), runs_.size(),
                       tiles_.tile_bytes());
  }

 private:
  static TileGoal goal() {
    constexpr std::size_t run = 8192, least = 32 * 1024;
    return {.run = run, .largest_tile = std::max(least, cache_sizes().second / 16)};
  }

  // Permutes tiles that have this many coordinates of each axis.
  struct Permuter {
    Permuter(const BoxTiles& tiles, std::vector<std::uint64_t> tile_lengths)
        : lengths(std::move(tile_lengths)) {
      std::vector<kernel::Axis> axes;  // in the order of the buffer
      std::uint64_t bytes = tiles.element_bytes();
      const auto add = [&](std::size_t i) {
        axes.push_back({lengths[i], tiles.axes()[i].source, {0, bytes}});
        bytes *= lengths[i];
      };
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (tiles.parts()[i].in_row) row *= lengths[i];
        if (!tiles.parts()[i].in_run) continue;
        run *= lengths[i];
        add(i);
      }
      for (const std::size_t i : tiles.by_source()) {
        if (tiles.parts()[i].in_row && !tiles.parts()[i].in_run) add(i);
      }
      engine = make_engine_in_cache(TargetAxes(tiles.element_bytes(), axes), bytes, false, cycles);
    }

    std::vector<std::uint64_t> lengths;
    std::uint64_t row = 1, run = 1;  // elements of each
    double cycles = 0;               // of each element
    std::unique_ptr<Engine> engine;
  };

  const Engine& permuter_for(const BoxTiles::Tile& tile) const {
    return *std::ranges::find_if(permuters_, [&](const Permuter& permuter) {
              return permuter.row == tile.row && permuter.run == tile.run;
            })->engine;
  }

  BoxTiles tiles_;
  std::uint64_t tile_count_, tiles_per_task_;
  std::vector<std::uint64_t> rows_, runs_;  // where they begin
  RowsOutFunction write_;
  std::vector<Permuter> permuters_;  // the first one for whole tiles
};

}  // namespace

std::unique_ptr<Engine> make_nested(const TargetAxes& target, double cycles) {
  if (std::ranges::any_of(target.axes, &StridedAxis::mapped)) return nullptr;
  auto nested = std::make_unique<Nested>(target);
  if (nested->cycles() >= cycles) return nullptr;
  nested->complete();
  return nested;
}

}  // namespace xorder::memory
