#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "memory/bmmc.hpp"
#include "memory/bmmc_engine.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/line_tiles.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using gf2::Word;

class Lines : public BmmcEngine {
 public:
  Lines(Mapped mapped, TileShape shape, bool streamed)
      : BmmcEngine(std::move(mapped), shape),
        tiles_(make_line_tiles(mapped_.map, std::countr_zero(mapped_.element_bytes), shape.source_bits,
                               shape.target_bits, walk_.varying())),
        transpose_(line_tile_function(tiles_.lg_lines)),
        move_(tile_move_function(tiles_.lg_lines)),
        write_(segment_function(streamed)),
        write_unaligned_(segment_function(false)),
        copy_(copy_function(streamed)),
        streamed_(streamed),
        large_(shape.large) {
    lg_element_ = std::countr_zero(mapped_.element_bytes);
    segment_bytes_ = mapped_.element_bytes << tiles_.target_bits;
    constexpr std::size_t lines_ahead = 64;
    ahead_ = std::clamp<std::size_t>(lines_ahead >> tiles_.lg_lines, 1, tiles_.line_tiles.size());
    in_runs_ =
        tiles_.lg_lines == 0 && tiles_.before.kind == LinePermutation::none && tiles_.segments.size() == 1;
    direct_ = !streamed && !in_runs_ && 2 * mapped_.bytes() * mapped_.outer_count <= cache_sizes().second;
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    if (direct_) {
      for_each_map(first, last, source, target,
                   [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                     for (std::uint64_t i = 0; i < tiles_per_task_; ++i, walk_.advance(place))
                       move_tile(place, from, to);
                   });
      return;
    }
    Scratch buffer(buffer_bytes());
    for_each_map(first, last, source, target,
                 [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                   TileWalk::Place next = place;
                   for (std::uint64_t i = 0; i < tiles_per_task_; ++i, place = next) {
                     walk_.advance(next);
                     if (in_runs_) {
                       write_run(to, place.target << lg_element_, from + (place.source << lg_element_),
                                 from + (next.source << lg_element_), buffer.data());
                       continue;
                     }
                     const std::uint64_t ahead = next.source << lg_element_;
                     read_tile(from, place.source << lg_element_, ahead, buffer.data());
                     write_tile(to, place.target << lg_element_, buffer.data(), buffer.data(),
                                large_ ? NextLines(tiles_, from, ahead) : NextLines());
                   }
                 });
  }

  bool exchanges() const override {
    return tiles_.source_bits == tiles_.target_bits && walk_.permutes_tiles(mapped_.map.matrix);
  }

  // The map permutes the tiles among themselves. Along a cycle, each tile is read before it is overwritten.
  void exchange(std::uint64_t first, std::uint64_t last, std::byte* array) const override {
    const Scratch one(buffer_bytes()), another(buffer_bytes());
    for_each_map(first, last, array, array, [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
      Cycles cycles(*this, place);
      std::byte *read = one.data(), *held = another.data();
      Word holds = 0;
      for (std::optional<Cycles::Tile> tile = cycles.next(), next; tile; tile = next) {
        next = cycles.next();
        const Word ahead = next ? next->source : tile->source;
        read_tile(from, tile->source << lg_element_, ahead << lg_element_, read);
        if (!tile->begins_cycle) write_tile(to, mapped_.map(holds) << lg_element_, held, held, {});
        std::swap(read, held);
        holds = tile->source;
        if (!next || next->begins_cycle) write_tile(to, mapped_.map(holds) << lg_element_, held, held, {});
      }
    });
  }

  std::string describe() const override {
    return fmt::format(
        "map of {} bits, elements of {} bytes; tiles of {} segments of {} bytes, {} lines across{}{}{}",
        mapped_.map.bits(), mapped_.element_bytes, tiles_.segments.size(), segment_bytes_,
        1 << tiles_.lg_lines, tiles_.before.kind == LinePermutation::none ? "" : ", permuted before",
        tiles_.after.kind == LinePermutation::none ? "" : ", permuted after",
        streamed_ ? ", streamed"
        : direct_ ? ", direct"
                  : "");
  }

 private:
  // As NextTile in write_tile.hpp.
  class NextLines {
   public:
    NextLines() = default;
    NextLines(const LineTiles& tiles, const std::byte* source, std::uint64_t tile)
        : tiles_(&tiles), source_(source), tile_(tile) {}

    std::size_t lines() const {
      return tiles_ == nullptr ? 0 : tiles_->line_tiles.size() << tiles_->lg_lines;
    }
    void prefetch_to(std::size_t lines) {
      for (; asked_ < lines; ++asked_) {
        const std::uint64_t line = asked_ & ((std::size_t{1} << tiles_->lg_lines) - 1);
        prefetch_far(source_ +
                     (tile_ ^ tiles_->line_tiles[asked_ >> tiles_->lg_lines] ^ tiles_->source_lines[line]));
      }
    }

   private:
    const LineTiles* tiles_ = nullptr;
    const std::byte* source_ = nullptr;
    std::uint64_t tile_ = 0;
    std::size_t asked_ = 0;
  };

  // The tiles of all cycles that begin in a task's tiles, cycle after cycle. A cycle begins at its tile with
  // the smallest number. To find out, each tile follows its cycle until it meets a smaller number; in long
  // cycles most soon do.
  class Cycles {
   public:
    Cycles(const Lines& lines, const TileWalk::Place& place)
        : lines_(lines), place_(place), left_(lines.tiles_per_task_) {}

    struct Tile {
      Word source;
      bool begins_cycle;
    };
    std::optional<Tile> next() {
      if (in_cycle_) {
        at_ = follower(at_);
        if (lines_.walk_.tile_of(at_) != begin_) return Tile{at_, false};
        in_cycle_ = false;
      }
      for (; left_ != 0; --left_, lines_.walk_.advance(place_)) {
        if (!begins(place_.source)) continue;
        at_ = place_.source;
        begin_ = lines_.walk_.tile_of(at_);
        in_cycle_ = true;
        --left_;
        lines_.walk_.advance(place_);
        return Tile{at_, true};
      }
      return {};
    }

   private:
    Word follower(Word source) const {
      return lines_.mapped_.map(source) & ~gf2::low_mask(lines_.tiles_.source_bits);
    }
    bool begins(Word source) const {
      const Word mine = lines_.walk_.tile_of(source);
      for (Word at = follower(source);; at = follower(at)) {
        const Word other = lines_.walk_.tile_of(at);
        if (other <= mine) return other == mine;
      }
    }

    const Lines& lines_;
    TileWalk::Place place_;
    std::uint64_t left_;
    Word at_ = 0, begin_ = 0;
    bool in_cycle_ = false;
  };

  std::size_t buffer_bytes() const { return tiles_.lines.size() * line_bytes + segment_bytes_; }

  void move_tile(const TileWalk::Place& place, const std::byte* source, std::byte* target) const {
    const std::uint64_t there = place.target << lg_element_;
    move_({source, place.source << lg_element_, tiles_.line_tiles.data(), tiles_.source_lines.data(), target,
           there / line_bytes * line_bytes, tiles_.target_lines.data(), tiles_.line_tiles.size(),
           tiles_.before, tiles_.before_flips.data(), tiles_.after, tiles_.after_flips.data(),
           tiles_.tile_flips[there % line_bytes]});
  }

  void read_tile(const std::byte* source, std::uint64_t tile, std::uint64_t next, std::byte* buffer) const {
    const std::size_t lines = std::size_t{1} << tiles_.lg_lines;
    const std::size_t count = tiles_.line_tiles.size();
    const std::byte* rows[line_bytes];
    for (std::size_t m = 0; m < count; ++m, buffer += lines * line_bytes) {
      const std::size_t later = m + ahead_;
      const std::uint64_t ahead =
          later < count ? tile ^ tiles_.line_tiles[later] : next ^ tiles_.line_tiles[later - count];
      const std::uint64_t here = tile ^ tiles_.line_tiles[m];
      for (std::size_t a = 0; a < lines; ++a) {
        rows[a] = source + (here ^ tiles_.source_lines[a]);
        if (!large_) prefetch(source + (ahead ^ tiles_.source_lines[a]));
      }
      transpose_(rows, tiles_.before, tiles_.before_flips.data(), buffer);
    }
  }

  void write_tile(std::byte* target, std::uint64_t tile, const std::byte* lines, std::byte* buffer,
                  NextLines next) const {
    const std::uint64_t within = tile & (segment_bytes_ - 1);
    const std::size_t count = segment_bytes_ / line_bytes;
    Segment segment{nullptr,
                    lines,
                    tiles_.lines.data(),
                    tiles_.after_flips.data(),
                    count,
                    within / line_bytes,
                    tiles_.tile_flips[within % line_bytes]};
    const bool aligned = reinterpret_cast<std::uintptr_t>(target) % line_bytes == 0;
    std::byte* const whole = buffer + tiles_.lines.size() * line_bytes;
    std::size_t written = 0;
    for (const std::uint64_t s : tiles_.segments) {
      if (large_) next.prefetch_to(next.lines() * ++written / tiles_.segments.size());
      std::byte* const to = target + ((tile ^ within) ^ s);
      segment.target = aligned ? to : whole;
      (aligned ? write_ : write_unaligned_)(segment, tiles_.after);
      if (!aligned) copy_(to, whole, segment_bytes_);
      segment.lines += count;
    }
  }

  // Writes a tile that is one run on both sides, and prefetches some lines of the next run before each part of
  // it. (Gray code of 256 MiB on AMD Zen 4: 7 GB/s if the next run is prefetched at once, 19 a few lines at a
  // time.)
  void write_run(std::byte* target, std::uint64_t tile, const std::byte* run, const std::byte* next,
                 std::byte* buffer) const {
    constexpr std::size_t lines_at_once = 8;
    const std::uint64_t within = tile & (segment_bytes_ - 1);
    const std::size_t count = segment_bytes_ / line_bytes, flip = within / line_bytes;
    const std::size_t part = std::min(count, lines_at_once);
    const bool aligned = reinterpret_cast<std::uintptr_t>(target) % line_bytes == 0;
    std::byte* const there = target + (tile ^ within);
    std::byte* const to = aligned ? there : buffer;
    for (std::size_t l = 0; l < count; l += part) {
      for (std::size_t i = l; i < l + part; ++i) prefetch(next + i * line_bytes);
      (aligned ? write_ : write_unaligned_)(
          {to + l * line_bytes, run, tiles_.lines.data() + (l ^ (flip & ~(part - 1))),
           tiles_.after_flips.data(), part, flip & (part - 1), tiles_.tile_flips[within % line_bytes]},
          tiles_.after);
    }
    if (!aligned) copy_(there, buffer, segment_bytes_);
  }

  LineTiles tiles_;
  LineTileFunction transpose_;
  TileMoveFunction move_;
  SegmentFunction write_, write_unaligned_;
  CopyFunction copy_;
  bool streamed_;
  bool large_;  // tiles do not fit in the first-level cache, and are fetched while others are written
  int lg_element_;
  std::uint64_t segment_bytes_;
  std::size_t ahead_;
  bool direct_;   // arrays in the cache: tiles go to their places without a buffer
  bool in_runs_;  // a tile is a run on both sides: its lines are read where they are
};

}  // namespace

std::unique_ptr<Engine> make_bmmc_lines(Mapped mapped, TileShape shape, bool streamed) {
  return std::make_unique<Lines>(std::move(mapped), shape, streamed);
}

}  // namespace xorder::memory
