// Moves the tiles of a linear map line by line, as line_tiles.hpp describes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernel/linear/line_tiles.hpp"
#include "kernel/vectors/lines.hpp"
#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {

/// Where the bytes of an array lie: a function from offsets to addresses. The bytes of a run of the source,
/// or of a segment of the target, are next to each other. Here, all are.
template <class Byte>
struct Flat {
  Byte* base;
  Byte* operator()(std::uint64_t offset) const { return base + offset; }
};
template <class Byte>
Flat(Byte*) -> Flat<Byte>;  // which clang 16 does not deduce

/// Prefetches the next tile while one is written, some of its lines at a time, run after run. (A processor
/// alone does not overlap the two: it reads nothing new while it writes. In the order in which the tile reads
/// them, lines of large bit reversals would take twice as long as run after run.)
template <class Source>
class NextLines {
 public:
  /// The tile at byte `tile` of the source. `offsets` are those of source_offsets(), and must outlive this.
  NextLines(const std::vector<std::uint64_t>& offsets, const Source& source, std::uint64_t tile)
      : offsets_(offsets), source_(source), tile_(tile), across_lines_(within_line(source(tile))) {}

  /// Prefetches until this part of the lines was asked for.
  void fetch_to(std::size_t part, std::size_t parts) {
    const std::size_t lines = offsets_.size() * part / parts;
    for (; asked_ < lines; ++asked_) {
      const std::byte* const line = at(asked_);
      prefetch_far(line);
      if (across_lines_ && ends_run(line)) prefetch_far(line + line_bytes - 1);
    }
  }

 private:
  const std::byte* at(std::size_t i) const { return source_(tile_ ^ offsets_[i]); }
  // Whether no line follows it that begins in the same line of the cache.
  bool ends_run(const std::byte* line) const {
    return asked_ + 1 == offsets_.size() || at(asked_ + 1) != line + line_bytes;
  }

  const std::vector<std::uint64_t>& offsets_;
  Source source_;
  std::uint64_t tile_;
  bool across_lines_;
  std::size_t asked_ = 0;
};

struct NoNextLines {
  void fetch_to(std::size_t, std::size_t) {}
};

/// How a tile's lines are prefetched: into the first-level cache, shortly before they are read; far ahead
/// into the second; or by the caller, while another tile is written (NextLines, LineGather).
enum class Fetching { near, far, while_writing };

/// Tiles are named by the offset, in bytes, of the beginning of one of their runs in the source, or of its
/// image in the target. Immutable, so several threads can use it at once.
class LineMover {
 public:
  /// `streamed` means to write past the cache.
  LineMover(LineTiles tiles, std::uint64_t element_bytes, bool streamed, Fetching fetching)
      : tiles_(std::move(tiles)),
        transpose_(line_tile_function(tiles_.lg_lines)),
        move_(tile_move_function(tiles_.lg_lines, streamed)),
        write_(segment_function(streamed)),
        write_unaligned_(segment_function(false)),
        copy_(copy_function(streamed)),
        fetching_(fetching),
        segment_bytes_(element_bytes << tiles_.shape.target_bits),
        share_sets_(
            std::ranges::all_of(tiles_.source_lines, [](std::uint64_t at) { return at % way == 0; })) {
    const std::size_t lines_ahead = fetching == Fetching::far ? 128 : 64;
    ahead_ = std::clamp<std::size_t>(lines_ahead >> tiles_.lg_lines, 1, tiles_.line_tiles.size());
  }

  const LineTiles& tiles() const { return tiles_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }
  bool in_runs() const { return tiles_.in_runs; }
  /// Of the buffer that a tile needs on its way.
  std::size_t buffer_bytes() const { return tiles_.lines.size() * line_bytes + segment_bytes_; }

  /// Reads a tile into the buffer, line tile after line tile. Unless Fetching is while_writing, prefetches
  /// the first lines of the tile `next`.
  template <class Source>
  void read(const Source& source, std::uint64_t tile, std::uint64_t next, std::byte* buffer) const {
    if (in_runs()) return read_run(source(tile), source(next), buffer);
    const std::size_t lines = std::size_t{1} << tiles_.lg_lines;
    const std::size_t count = tiles_.line_tiles.size();
    const bool across_lines = within_line(source(tile));
    const std::byte* rows[line_bytes];
    for (std::size_t m = 0; m < count; ++m, buffer += lines * line_bytes) {
      const std::size_t later = m + ahead_;
      const std::uint64_t ahead =
          later < count ? tile ^ tiles_.line_tiles[later] : next ^ tiles_.line_tiles[later - count];
      const std::uint64_t here = tile ^ tiles_.line_tiles[m];
      for (std::size_t a = 0; a < lines; ++a) {
        rows[a] = source(here ^ tiles_.source_lines[a]);
        const std::byte* const later_line = source(ahead ^ tiles_.source_lines[a]);
        if (fetching_ == Fetching::near) prefetch(later_line);
        if (fetching_ == Fetching::far) prefetch_far(later_line);
      }
      if (across_lines && fetching_ != Fetching::while_writing) {
        for (std::size_t a = 0; a < lines; ++a)
          prefetch_far(source(ahead ^ tiles_.source_lines[a]) + line_bytes - 1);
      }
      transpose_(rows, tiles_.before, tiles_.before_flips.data(), buffer);
    }
  }

  /// Reads a tile whose lines were gathered: line a of line tile m lies at gathered + places[m * lines + a].
  void read_gathered(const std::byte* gathered, const std::uint32_t* places, std::byte* buffer) const {
    const std::size_t lines = std::size_t{1} << tiles_.lg_lines;
    const std::byte* rows[line_bytes];
    for (std::size_t m = 0; m < tiles_.line_tiles.size();
         ++m, buffer += lines * line_bytes, places += lines) {
      for (std::size_t a = 0; a < lines; ++a) rows[a] = gathered + places[a];
      transpose_(rows, tiles_.before, tiles_.before_flips.data(), buffer);
    }
  }

  /// Writes a tile from `buffer`, and fetches `next` meanwhile.
  template <class Target, class Next = NoNextLines>
  void write(const Target& target, std::uint64_t tile, std::byte* buffer, Next next = {}) const {
    const std::uint64_t within = tile & (segment_bytes_ - 1);
    const std::size_t count = segment_bytes_ / line_bytes;
    Segment segment = segment_of(within, buffer, count);
    const LineOrder& after = tiles_.after[segment.flip != 0];
    std::byte* const whole = buffer + tiles_.lines.size() * line_bytes;
    std::size_t written = 0;
    for (const std::uint64_t s : tiles_.segments) {
      next.fetch_to(++written, tiles_.segments.size());
      std::byte* const to = target((tile ^ within) ^ s);
      if (within_line(to)) {
        segment.target = whole;
        write_unaligned_(segment, after);
        copy_(to, whole, segment_bytes_);
      } else {
        segment.target = to;
        write_(segment, after);
      }
      segment.lines += count;
    }
  }

  /// If in_runs(): copies a tile from `run` and prefetches the one at `next`: some of its lines before each
  /// part. (A run prefetched all at once stalls the copy: processors keep few misses in flight.)
  template <class Target>
  void write_run(const Target& target, std::uint64_t tile, const std::byte* run, const std::byte* next,
                 std::byte* buffer) const {
    const std::uint64_t within = tile & (segment_bytes_ - 1);
    const std::size_t count = segment_bytes_ / line_bytes, flip = within / line_bytes;
    const std::size_t part = std::min(count, lines_at_once);
    std::byte* const there = target(tile ^ within);
    const bool aligned = !within_line(there);
    std::byte* const to = aligned ? there : buffer;
    Segment segment = segment_of(within, run, part);
    segment.line_flip = flip & (part - 1);
    for (std::size_t l = 0; l < count; l += part) {
      for (std::size_t i = l; i < l + part; ++i) prefetch(next + i * line_bytes);
      segment.target = to + l * line_bytes;
      segment.lines = tiles_.lines.data() + (l ^ (flip & ~(part - 1)));
      (aligned ? write_ : write_unaligned_)(segment, tiles_.after[segment.flip != 0]);
    }
    if (!aligned) copy_(there, buffer, segment_bytes_);
  }

  /// Moves a tile without a buffer. If lines are streamed, the target must begin at a line, and the tile
  /// `next` is prefetched.
  void move(const std::byte* source, std::uint64_t source_tile, std::uint64_t next, std::byte* target,
            std::uint64_t target_tile) const {
    const std::uint8_t flip = tiles_.tile_flips[target_tile % line_bytes];
    move_({source, source_tile, tiles_.line_tiles.data(), tiles_.source_lines.data(), target,
           target_tile / line_bytes * line_bytes, tiles_.target_lines.data(), tiles_.line_tiles.size(),
           tiles_.before, tiles_.before_flips.data(), tiles_.after[flip != 0], tiles_.after_flips.data(),
           flip, next, share_sets_});
  }

 private:
  static constexpr std::uint64_t way = 4096;  // of the first-level cache: as far apart, lines share a set
  // Of a run: prefetched at once.
  static constexpr std::size_t lines_at_once = 8;

  // Of a tile whose target begins `within` bytes after the beginning of a segment.
  Segment segment_of(std::uint64_t within, const std::byte* lines, std::size_t count) const {
    return {nullptr,
            lines,
            tiles_.lines.data(),
            tiles_.after_flips.data(),
            count,
            within / line_bytes,
            tiles_.tile_flips[within % line_bytes]};
  }

  // Some lines of the next run before each part of this one, as in write_run.
  void read_run(const std::byte* run, const std::byte* next, std::byte* buffer) const {
    const std::size_t count = tiles_.lines.size(), part = std::min(count, lines_at_once);
    for (std::size_t l = 0; l < count; l += part) {
      for (std::size_t i = l; i < l + part; ++i) {
        const std::byte* const line = next + i * line_bytes;
        fetching_ == Fetching::far ? prefetch_far(line) : prefetch(line);
      }
      std::memcpy(buffer + l * line_bytes, run + l * line_bytes, part * line_bytes);
    }
  }

  LineTiles tiles_;
  LineTileFunction transpose_;
  TileMoveFunction move_;
  SegmentFunction write_, write_unaligned_;
  CopyFunction copy_;
  Fetching fetching_;
  std::uint64_t segment_bytes_;
  bool share_sets_;
  std::size_t ahead_;
};

}  // namespace xorder::kernel
