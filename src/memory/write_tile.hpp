// Writes a tile while the next one is on its way. A processor alone does not overlap the two: it reads
// nothing new while it writes, and a copy does both at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "memory/micro.hpp"

namespace xorder::memory {

/// Prefetches the lines of the next tile into the second-level cache, some at a time, row after row.
class NextTile {
 public:
  NextTile() = default;
  /// `bytes` bytes of each row, row r at base + offsets[r]. The offsets must outlive this.
  NextTile(const std::byte* base, const std::uint64_t* offsets, std::size_t rows, std::size_t bytes)
      : base_(base),
        offsets_(offsets),
        rows_(rows),
        last_(bytes - 1),
        // A row that does not begin at a line has the beginning of one more.
        lines_of_row_(bytes / line_bytes + (is_aligned(base, offsets, rows, bytes) ? 0 : 1)) {}

  std::size_t lines() const { return rows_ * lines_of_row_; }
  /// Prefetches until `lines` lines of the tile were asked for.
  void prefetch_to(std::size_t lines) {
    for (; asked_ < lines; ++asked_) {
      prefetch_far(base_ + offsets_[row_] + std::min(line_ * line_bytes, last_));
      if (++line_ == lines_of_row_) {
        line_ = 0;
        ++row_;
      }
    }
  }

 private:
  static bool is_aligned(const std::byte* base, const std::uint64_t* offsets, std::size_t rows,
                         std::size_t bytes) {
    // Strides that are no multiples of a line show within the first few rows.
    std::uint64_t all = reinterpret_cast<std::uintptr_t>(base) | bytes;
    for (std::size_t r = 0; r < std::min<std::size_t>(rows, 2); ++r) all |= offsets[r];
    return all % line_bytes == 0;
  }

  const std::byte* base_ = nullptr;
  const std::uint64_t* offsets_ = nullptr;
  std::size_t rows_ = 0, last_ = 0, lines_of_row_ = 0;
  std::size_t asked_ = 0, row_ = 0, line_ = 0;
};

/// Calls write(c, part) for parts of a tile that begin at row c of it, and prefetches a part of the next tile
/// before each.
template <class Write>
void write_tile(const RowsOut& tile, NextTile next, const Write& write) {
  constexpr std::size_t part_bytes = 1024;
  const std::size_t lines = next.lines();
  if (lines == 0) return write(0, tile);
  const std::size_t rows = std::max<std::size_t>(1, part_bytes / tile.bytes);
  const std::size_t bytes = tile.bytes < 2 * part_bytes ? tile.bytes : part_bytes;
  std::size_t written = 0;
  for (std::size_t c = 0; c < tile.rows; c += rows) {
    RowsOut part = tile;
    part.target += c * tile.target_pitch;
    part.rows = std::min(rows, tile.rows - c);
    for (std::size_t at = 0; at < tile.bytes; at += bytes) {
      part.buffer = tile.buffer + c * tile.pitch + at;
      part.target = tile.target + c * tile.target_pitch + at;
      part.bytes = std::min(bytes, tile.bytes - at);
      part.first = tile.first && at == 0;
      part.last = tile.last && at + part.bytes == tile.bytes;
      written += part.rows * part.bytes;
      next.prefetch_to(lines * written / (tile.rows * tile.bytes));
      write(c, part);
    }
  }
}

/// The same for rows that lie anywhere: row c of the tile at tile.target + offsets[c].
inline void write_tile_to(const std::uint64_t* offsets, const RowsOut& tile, const NextTile& next,
                          RowsOutFunction write) {
  write_tile(tile, next, [&](std::size_t c, RowsOut part) {
    std::byte* const target = part.target - c * part.target_pitch;
    for (const std::size_t end = c + part.rows; c < end;
         c += part.rows, part.buffer += part.rows * part.pitch) {
      part.target = target + offsets[c];
      part.rows = 1;  // and all that follow at the same distance, since a call for each would take longer
      part.target_pitch = c + 1 < end && offsets[c + 1] > offsets[c] ? offsets[c + 1] - offsets[c] : 0;
      while (part.target_pitch != 0 && c + part.rows < end &&
             offsets[c + part.rows] == offsets[c] + part.rows * part.target_pitch)
        ++part.rows;
      write(part);
    }
  });
}

}  // namespace xorder::memory
