// Moves the tiles of a BMMC permutation line by line, as line_tiles.hpp describes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/line_tiles.hpp"
#include "memory/mapped.hpp"
#include "memory/micro.hpp"
#include "memory/tile_walk.hpp"

namespace xorder::memory {

/// Prefetches the source lines of the next tile, some at a time, as NextTile in write_tile.hpp does.
class NextLines {
 public:
  NextLines() = default;
  /// The tile at byte `tile` of the source.
  NextLines(const LineTiles& tiles, const std::byte* source, std::uint64_t tile)
      : tiles_(&tiles), source_(source), tile_(tile) {}

  std::size_t lines() const { return tiles_ == nullptr ? 0 : tiles_->line_tiles.size() << tiles_->lg_lines; }
  /// Prefetches until `lines` lines of the tile were asked for.
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

/// How a tile's lines are prefetched: into the first-level cache, shortly before they are read; far ahead
/// into the second; or by the caller, while another tile is written (NextLines).
enum class Fetching { near, far, while_writing };

/// Tiles are named by the offset, in bytes, of the beginning of one of their runs in the source, or of its
/// image in the target. Immutable, so several threads can use it at once.
class LineMover {
 public:
  /// Elements of 1 to 16 bytes, and a map of at least a line. `streamed` means to write past the cache.
  LineMover(const Mapped& mapped, const TileWalk& walk, TileShape shape, bool streamed, Fetching fetching);

  const LineTiles& tiles() const { return tiles_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }
  /// Whether a tile is one run of the source and one of the target, whose lines can be read where they are.
  bool in_runs() const { return in_runs_; }
  /// Of the buffer that a tile needs on its way.
  std::size_t buffer_bytes() const { return tiles_.lines.size() * line_bytes + segment_bytes_; }

  /// Reads a tile into the buffer, line tile after line tile. Unless Fetching is while_writing, prefetches
  /// the first lines of the tile `next`.
  void read(const std::byte* source, std::uint64_t tile, std::uint64_t next, std::byte* buffer) const;
  /// Writes a tile from `buffer`, and prefetches `next` meanwhile.
  void write(std::byte* target, std::uint64_t tile, std::byte* buffer, NextLines next) const;
  /// If in_runs(): copies a tile from `run` and prefetches the one at `next`.
  void write_run(std::byte* target, std::uint64_t tile, const std::byte* run, const std::byte* next,
                 std::byte* buffer) const;
  /// Moves a tile without a buffer, which is best for arrays in the cache.
  void move(const std::byte* source, std::uint64_t source_tile, std::byte* target,
            std::uint64_t target_tile) const {
    move_({source, source_tile, tiles_.line_tiles.data(), tiles_.source_lines.data(), target,
           target_tile / line_bytes * line_bytes, tiles_.target_lines.data(), tiles_.line_tiles.size(),
           tiles_.before, tiles_.before_flips.data(), tiles_.after, tiles_.after_flips.data(),
           tiles_.tile_flips[target_tile % line_bytes]});
  }

 private:
  void read_run(const std::byte* run, const std::byte* next, std::byte* buffer) const;

  LineTiles tiles_;
  LineTileFunction transpose_;
  TileMoveFunction move_;
  SegmentFunction write_, write_unaligned_;
  CopyFunction copy_;
  Fetching fetching_;
  std::uint64_t segment_bytes_;
  std::size_t ahead_;
  bool in_runs_;
};

}  // namespace xorder::memory
