#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/picker.hpp"
#include "memory/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

using kernel::Picker;

constexpr double least_cycles = 6. / 64, cycles_per_byte = 0.1;

// An axis, how many of its coordinates a tile has, and on which sides it is one of the fastest.
struct TileAxis {
  std::uint64_t extent, source_stride, target_stride;
  std::uint64_t tile = 1;
  bool in_segment = false, in_run = false;
  std::uint64_t tiles() const { return ceil_div(extent, tile); }
};

// A tile reads segments of the source and writes runs of the target. The axes that are fastest in the source
// make a segment, those fastest in the target make a run, and some may be both. The segments are copied to a
// buffer, and each run is picked from there: element u of run v lies at starts[v] + table[u].
class Table : public Engine {
 public:
  Table(const TargetAxes& target, bool streamed, std::uint64_t array_bytes)
      : element_bytes_(target.element_bytes), write_(rows_out_function(streamed)), streamed_(streamed) {
    std::uint64_t stride = element_bytes_;
    for (const StridedAxis& a : target.axes) {
      axes_.push_back({a.extent, a.stride, stride, 1, false, false});
      stride *= a.extent;
    }
    by_source_.resize(axes_.size());
    for (std::size_t i = 0; i < axes_.size(); ++i) by_source_[i] = i;
    std::ranges::sort(by_source_, {}, [&](std::size_t i) { return axes_[i].source_stride; });
    std::uint64_t goal = in_caches(array_bytes) ? 512 : 2048;
    while (!choose_tile(goal, std::max<std::uint64_t>(line_bytes, goal / 2))) goal /= 2;
    lay_out();
    tiles_per_task_ = std::max<std::uint64_t>(1, 256 * 1024 / tile_bytes_);
  }

  std::uint64_t tasks() const override { return ceil_div(tiles_, tiles_per_task_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first * tiles_per_task_, end = std::min(tiles_, last * tiles_per_task_);
    if (begin >= end) return;
    const std::size_t in_bytes = round_up(segments_.size() * pitch_ + Picker::slack, line_bytes);
    Scratch buffer(in_bytes + runs_.size() * run_pitch_ + Picker::slack);
    std::byte* const out = buffer.data() + in_bytes;
    Walk walk(axes_, begin);
    Tile next = walk.tile();
    for (std::uint64_t t = begin; t < end; ++t) {
      const Tile tile = next;
      const std::size_t segment = tile.segment * element_bytes_, run = tile.run * element_bytes_;
      for (std::size_t s = 0; s < tile.segments; ++s)
        std::memcpy(buffer.data() + s * pitch_, source + tile.source + segments_[s], segment);
      for (std::size_t r = 0; r < tile.runs; ++r)
        picker_->pick(out + r * run_pitch_, buffer.data() + starts_[r], tile.run);
      NextTile fetched;
      if (t + 1 < end) {
        next = walk.advance();
        fetched =
            NextTile(source + next.source, segments_.data(), next.segments, next.segment * element_bytes_);
      }
      write_tile_to(runs_.data(), {target + tile.target, 0, out, run_pitch_, tile.runs, run, true, true},
                    fetched, write_);
    }
  }

  // For each element, see cycles_without_table().
  double cycles() const {
    const auto windows = static_cast<double>(picker_->windows()),
               n = static_cast<double>(picker_->in_vector());
    const auto segment = static_cast<double>(segment_), run = static_cast<double>(picker_->places().size());
    return (windows != 0 ? (4 * windows + 2) / n : 1.2) +
           cycles_per_byte * static_cast<double>(element_bytes_) + 10 / segment + 30 / run;
  }

  std::string describe() const override {
    return fmt::format(
        "axes: tiles of {} segments and {} runs of {} elements of {} bytes by a table, {} windows{}",
        segments_.size(), runs_.size(), picker_->places().size(), element_bytes_, picker_->windows(),
        streamed_ ? ", streamed" : "");
  }

 private:
  struct Tile {
    std::uint64_t source = 0, target = 0;  // where it begins
    std::uint64_t segments = 1, runs = 1;  // how many
    std::uint64_t segment = 1, run = 1;    // elements of each
  };

  // Visits the tiles in the order of the target.
  class Walk {
   public:
    Walk(const std::vector<TileAxis>& axes, std::uint64_t tile) : axes_(axes) {
      for (const TileAxis& a : axes) {
        at_.push_back(tile % a.tiles());
        tile /= a.tiles();
      }
    }
    Tile tile() const {
      Tile tile;
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        const TileAxis& a = axes_[i];
        const std::uint64_t from = at_[i] * a.tile, extent = std::min(a.tile, a.extent - from);
        tile.source += from * a.source_stride;
        tile.target += from * a.target_stride;
        if (a.in_segment) tile.segment *= extent;
        if (a.in_run) tile.run *= extent;
        if (a.in_segment && !a.in_run) tile.runs *= extent;
        if (a.in_run && !a.in_segment) tile.segments *= extent;
      }
      return tile;
    }
    Tile advance() {
      for (std::size_t i = 0; i < axes_.size() && ++at_[i] == axes_[i].tiles(); ++i) at_[i] = 0;
      return tile();
    }

   private:
    const std::vector<TileAxis>& axes_;
    std::vector<std::uint64_t> at_;
  };

  // Chooses a tile with runs and segments of about so many bytes. Returns whether that was possible in a tile
  // that is not too large, with runs that are not much longer: their table is to stay in the cache.
  bool choose_tile(std::uint64_t run_bytes, std::uint64_t segment_bytes) {
    constexpr std::uint64_t largest_tile = 32 * 1024;
    for (TileAxis& a : axes_) a.tile = 1, a.in_run = a.in_segment = false;
    const auto grow = [&](TileAxis& a, std::uint64_t& bytes, std::uint64_t goal, bool TileAxis::*in) {
      if (bytes >= goal) return;
      // Parts are about equal and of up to twice the goal, or as many coordinates more as make whole lines.
      const std::uint64_t parts = ceil_div(a.extent * bytes, 2 * goal);
      const std::uint64_t part = ceil_div(a.extent, parts), lines = line_bytes / std::gcd(line_bytes, bytes);
      a.tile =
          std::max(a.tile, parts == 1 || part < lines ? part : std::min(a.extent, round_up(part, lines)));
      a.*in = true;
      bytes = a.tile == a.extent ? bytes * a.tile : goal;
    };
    std::uint64_t bytes = element_bytes_;
    for (TileAxis& a : axes_) grow(a, bytes, run_bytes, &TileAxis::in_run);
    bytes = element_bytes_;
    for (const std::size_t i : by_source_) grow(axes_[i], bytes, segment_bytes, &TileAxis::in_segment);
    tile_bytes_ = element_bytes_;
    std::uint64_t run = element_bytes_;
    for (const TileAxis& a : axes_) {
      tile_bytes_ *= a.tile;
      if (a.in_run) run *= a.tile;
    }
    return (tile_bytes_ <= largest_tile && run <= 4 * run_bytes) || run_bytes <= line_bytes;
  }

  // Where the segments, the runs and their elements lie. Only the slowest axis of a segment or of a run may
  // be divided, so a smaller tile has the first of them.
  void lay_out() {
    for (const TileAxis& a : axes_) segment_ *= a.in_segment ? a.tile : 1;
    // An odd number of lines, or else elements of different segments share their sets in the cache.
    pitch_ = round_up(segment_ * element_bytes_, line_bytes) | line_bytes;
    segments_ = {0};
    std::vector<std::uint32_t> table = {0};
    for (const TileAxis& a : axes_) {
      tiles_ *= a.tiles();
      if (!a.in_run) continue;
      repeat(table, a.tile, a.in_segment ? a.source_stride : segments_.size() * pitch_);
      if (!a.in_segment) repeat(segments_, a.tile, a.source_stride);
    }
    starts_ = {0};
    runs_ = {0};
    for (const std::size_t i : by_source_) {
      const TileAxis& a = axes_[i];
      if (!a.in_segment || a.in_run) continue;
      repeat(starts_, a.tile, a.source_stride);
      repeat(runs_, a.tile, a.target_stride);
    }
    run_pitch_ = round_up(table.size() * element_bytes_, line_bytes) | line_bytes;
    picker_.emplace(std::move(table), element_bytes_);
  }

  // Adds the same places once more for each further coordinate.
  template <class Places>
  static void repeat(Places& places, std::uint64_t count, std::uint64_t stride) {
    const std::size_t size = places.size();
    for (std::uint64_t c = 1; c < count; ++c) {
      for (std::size_t i = 0; i < size; ++i)
        places.push_back(static_cast<typename Places::value_type>(places[i] + c * stride));
    }
  }

  std::uint64_t element_bytes_;
  RowsOutFunction write_;
  bool streamed_;
  std::vector<TileAxis> axes_;          // fastest in the target first
  std::vector<std::size_t> by_source_;  // their numbers, fastest in the source first
  std::uint64_t tiles_ = 1, tile_bytes_ = 0, tiles_per_task_ = 1;
  std::uint64_t segment_ = 1;  // elements
  std::size_t pitch_ = 0, run_pitch_ = 0;
  std::vector<std::uint64_t> segments_;  // where they lie in the source
  std::vector<std::uint64_t> runs_;      // where they lie in the target
  std::vector<std::uint32_t> starts_;    // where the runs begin in the buffer
  std::optional<Picker> picker_;
};

}  // namespace

std::unique_ptr<Engine> make_table(const TargetAxes& target, bool streamed, std::uint64_t array_bytes,
                                   double cycles) {
  const double w = static_cast<double>(target.element_bytes);
  if (w > 16 || cycles < least_cycles + w * cycles_per_byte ||
      std::ranges::any_of(target.axes, &StridedAxis::mapped))
    return nullptr;
  auto table = std::make_unique<Table>(target, streamed, array_bytes);
  return table->cycles() < cycles ? std::move(table) : nullptr;
}

}  // namespace xorder::memory
