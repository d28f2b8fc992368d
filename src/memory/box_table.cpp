#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernel/pick_tiles.hpp"
#include "kernel/records.hpp"
#include "memory/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

using kernel::PickTiles;

PickTiles tiles_of(const TargetAxes& target, std::uint64_t array_bytes, bool from_source) {
  return {target.element_bytes,
          target.with_strides(),
          {.run = in_caches(array_bytes) ? std::size_t{512} : std::size_t{2048},
           .largest_tile = 32 * 1024,
           .from_source = from_source}};
}

std::vector<std::uint64_t> bytes_of(const std::vector<kernel::Stride>& places) {
  std::vector<std::uint64_t> bytes;
  for (const kernel::Stride& place : places) bytes.push_back(place.bytes);
  return bytes;
}

// What both engines have: tiles, of which a task moves several.
class Tiled : public Engine {
 public:
  Tiled(const TargetAxes& target, std::uint64_t array_bytes, bool from_source)
      : tiles_(tiles_of(target, array_bytes, from_source)),
        tile_count_(tiles_.tile_count()),
        tiles_per_task_(std::max<std::uint64_t>(1, 256 * 1024 / tiles_.tile_bytes())) {}

  std::uint64_t tasks() const override { return ceil_div(tile_count_, tiles_per_task_); }

 protected:
  std::uint64_t first_tile(std::uint64_t task) const { return std::min(tile_count_, task * tiles_per_task_); }

  PickTiles tiles_;

 private:
  std::uint64_t tile_count_;
  std::uint64_t tiles_per_task_;
};

class Table : public Tiled {
 public:
  Table(const TargetAxes& target, bool streamed, std::uint64_t array_bytes)
      : Tiled(target, array_bytes, false),
        segments_(bytes_of(tiles_.segments())),
        runs_(bytes_of(tiles_.runs())),
        write_(rows_out_function(streamed)),
        streamed_(streamed) {}

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first_tile(first), end = first_tile(last);
    if (begin >= end) return;
    const std::uint64_t w = tiles_.element_bytes();
    Scratch buffer(tiles_.segment_buffer() + tiles_.run_buffer());
    std::byte* const collected = buffer.data() + tiles_.segment_buffer();
    PickTiles::Walk walk(tiles_, begin);
    PickTiles::Tile next = walk.tile();
    for (std::uint64_t t = begin; t < end; ++t) {
      const PickTiles::Tile tile = next;
      for (std::size_t s = 0; s < tile.segments; ++s)
        std::memcpy(buffer.data() + s * tiles_.segment_pitch(), source + tile.source.bytes + segments_[s],
                    tile.segment * w);
      for (std::size_t r = 0; r < tile.runs; ++r)
        tiles_.picker().pick(collected + r * tiles_.run_pitch(), buffer.data() + tiles_.starts()[r],
                             tile.run);
      NextTile fetched;
      if (t + 1 < end) {
        walk.advance();
        next = walk.tile();
        fetched = NextTile(source + next.source.bytes, segments_.data(), next.segments, next.segment * w);
      }
      const RowsOut rows{
          target + tile.target.bytes, 0, collected, tiles_.run_pitch(), tile.runs, tile.run * w, true, true};
      write_tile_to(runs_.data(), rows, fetched, write_);
    }
  }

  double cycles() const { return tiles_.cycles(); }
  const PickTiles& tiles() const { return tiles_; }

  std::string describe() const override {
    return fmt::format(
        "axes: tiles of {} segments and {} runs of {} elements of {} bytes by a table, {} windows{}",
        segments_.size(), runs_.size(), tiles_.picker().places().size(), tiles_.element_bytes(),
        tiles_.picker().windows(), streamed_ ? ", streamed" : "");
  }

 private:
  std::vector<std::uint64_t> segments_, runs_;  // where they begin
  RowsOutFunction write_;
  bool streamed_;
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

// Picks elements one by one from the source, which is in the cache, and puts them in the target.
class Picks : public Tiled {
 public:
  Picks(const TargetAxes& target, std::uint64_t array_bytes)
      : Tiled(target, array_bytes, true), pick_(pick_function(target.element_bytes)) {}

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
    return 1.2 + 0.04 * static_cast<double>(tiles.element_bytes()) +
           30 / static_cast<double>(tiles.picker().places().size());
  }

  // Whether the lines of a run's elements, with those that are written, do not stay in the first-level cache,
  // because they share few sets. (8 x 8 x 8 x 8 elements of 16 bytes, reversed, AMD Zen 4: 16 GB/s, as
  // matrices 26.)
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

std::unique_ptr<Engine> make_table(const TargetAxes& target, bool streamed, std::uint64_t array_bytes,
                                   double cycles) {
  if (target.element_bytes > 16 || cycles < PickTiles::least_cycles(target.element_bytes) ||
      std::ranges::any_of(target.axes, &StridedAxis::mapped))
    return nullptr;
  auto table = std::make_unique<Table>(target, streamed, array_bytes);
  // Smaller elements take too many instructions one by one.
  if (written_directly(array_bytes) && target.element_bytes >= 4 &&
      Picks::cycles(table->tiles()) < std::min(cycles, table->cycles())) {
    auto picks = std::make_unique<Picks>(target, array_bytes);
    if (!picks->shares_sets()) return picks;
  }
  return table->cycles() < cycles ? std::move(table) : nullptr;
}

}  // namespace xorder::memory
