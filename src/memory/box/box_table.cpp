// The engines that pick elements by a table (kernel/vectors/picker.hpp): in the cache, for boxes whose rows
// and runs are shorter than any block. Small elements are picked from a copy of the tile's rows, which lie
// side by side there; large ones from the source itself.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/box/pick_tiles.hpp"
#include "kernel/records.hpp"
#include "memory/box/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

using kernel::PickTiles;

PickTiles tiles_of(const TargetAxes& target, bool from_source) {
  return {target.element_bytes,
          target.with_strides(),
          {.run = 512, .largest_tile = 32 * 1024, .limits_runs = true},
          from_source};
}

// What both engines have: tiles, of which a task moves several.
class Tiled : public Engine {
 public:
  Tiled(const TargetAxes& target, bool from_source)
      : tiles_(tiles_of(target, from_source)),
        tile_count_(tiles_.tile_count()),
        tiles_per_task_(std::max<std::uint64_t>(1, task_bytes / tiles_.tile_bytes())) {}

  std::uint64_t tasks() const override { return ceil_div(tile_count_, tiles_per_task_); }

 protected:
  std::uint64_t first_tile(std::uint64_t task) const { return std::min(tile_count_, task * tiles_per_task_); }

  PickTiles tiles_;

 private:
  std::uint64_t tile_count_;
  std::uint64_t tiles_per_task_;
};

// Picks the elements of each run from a copy of a tile's rows.
class Table : public Tiled {
 public:
  explicit Table(const TargetAxes& target) : Tiled(target, false) {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first_tile(first), end = first_tile(last);
    if (begin >= end) return;
    const std::uint64_t w = tiles_.element_bytes();
    Scratch buffer(tiles_.row_buffer() + tiles_.run_pitch() + kernel::Picker::slack);
    std::byte* const collected = buffer.data() + tiles_.row_buffer();
    PickTiles::Walk walk(tiles_, begin);
    for (std::uint64_t t = begin; t < end; ++t, walk.advance()) {
      const PickTiles::Tile tile = walk.tile();
      for (std::size_t s = 0; s < tile.rows; ++s)
        std::memcpy(buffer.data() + s * tiles_.row_pitch(),
                    source + tile.source.bytes + tiles_.rows()[s].bytes, tile.row * w);
      for (std::size_t r = 0; r < tile.runs; ++r) {
        // May write past the run's end.
        tiles_.picker().pick(collected, buffer.data() + tiles_.starts()[r], tile.run);
        std::memcpy(target + tile.target.bytes + tiles_.runs()[r].bytes, collected, tile.run * w);
      }
    }
  }

  double cycles() const { return tiles_.cycles(); }
  const PickTiles& tiles() const { return tiles_; }

  std::string describe() const override {
    return fmt::format("axes: tiles of {} rows and {} runs of {} elements of {} bytes by a table, {} loads",
                       tiles_.rows().size(), tiles_.runs().size(), tiles_.picker().places().size(),
                       tiles_.element_bytes(), tiles_.picker().loads());
  }
};

using PickFunction = void (*)(std::byte* to, const std::byte* from, const std::uint32_t* places,
                              std::size_t count, std::size_t element_bytes);
PickFunction pick_function(std::size_t element_bytes) {
  return kernel::with_record(element_bytes, [](const auto& record) -> PickFunction {
    using Record = std::remove_cvref_t<decltype(record)>;
    return [](std::byte* to, const std::byte* from, const std::uint32_t* places, std::size_t count,
              std::size_t bytes) {
      const Record each = Record::of_size(bytes);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < count; ++i) each.copy(to + i * each.bytes(), from + places[i]);
    };
  });
}

// Picks elements one by one from the source and puts them in the target.
class Picks : public Tiled {
 public:
  explicit Picks(const TargetAxes& target)
      : Tiled(target, true), pick_(pick_function(target.element_bytes)) {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first_tile(first), end = first_tile(last);
    if (begin >= end) return;
    const std::uint32_t* const places = tiles_.picker().places().data();
    PickTiles::Walk walk(tiles_, begin);
    for (std::uint64_t t = begin; t < end; ++t, walk.advance()) {
      const PickTiles::Tile tile = walk.tile();
      for (std::size_t r = 0; r < tile.runs; ++r)
        pick_(target + tile.target.bytes + tiles_.runs()[r].bytes,
              source + tile.source.bytes + tiles_.starts()[r], places, tile.run, tiles_.element_bytes());
    }
  }

  /// An estimate for each element; `tiles` need not be for picking from the source.
  static double cycles(const PickTiles& tiles) {
    const auto w = static_cast<double>(tiles.element_bytes());
    return (std::has_single_bit(tiles.element_bytes()) ? 1.1 + 0.028 * w : 1.9) +
           8 / static_cast<double>(tiles.picker().places().size());
  }

  // Whether the lines of a run's elements, with those that are written, do not stay in the first-level cache,
  // because they share few sets. Matrices, whose blocks read each line once, are faster then.
  bool shares_sets() const {
    constexpr std::size_t sets = 64;
    const std::size_t ways = cache_sizes().first / (sets * line_bytes);
    std::set<std::uint32_t> lines;
    for (const std::uint32_t place : tiles_.picker().places()) lines.insert(place / line_bytes);
    std::array<std::size_t, sets> in_set{};
    for (const std::uint32_t line : lines) ++in_set[line % sets];
    return std::ranges::max(in_set) >= ways;
  }

  std::string describe() const override {
    return fmt::format("axes: runs of {} elements of {} bytes by a table, direct",
                       tiles_.picker().places().size(), tiles_.element_bytes());
  }

 private:
  PickFunction pick_;
};

}  // namespace

std::unique_ptr<Engine> make_table(const TargetAxes& target, double& cycles) {
  if (target.element_bytes > 16 || cycles < PickTiles::least_cycles(target.element_bytes) ||
      std::ranges::any_of(target.axes, &StridedAxis::mapped))
    return nullptr;
  auto table = std::make_unique<Table>(target);
  // Smaller elements take too many instructions one by one. Places have 32 bits.
  const double by_picks = Picks::cycles(table->tiles());
  if (target.element_bytes >= 4 && by_picks < std::min(cycles, table->cycles()) &&
      target.source_bytes() <= std::uint64_t{1} << 32) {
    auto picks = std::make_unique<Picks>(target);
    if (!picks->shares_sets()) {
      cycles = by_picks;
      return picks;
    }
  }
  if (table->cycles() >= cycles) return nullptr;
  cycles = table->cycles();
  return table;
}

}  // namespace xorder::memory
