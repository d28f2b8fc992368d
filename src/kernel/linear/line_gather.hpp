// Copies the source lines of a tile into a buffer, run after run.
//
// Lines that are prefetched instead stay in the cache only if they do not all belong in the same few sets. If
// a map permutes bits they do, since a tile's runs begin at multiples of a large power of two: of the 512
// runs of a bit reversal of bytes, a cache of 8 ways keeps eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/linear/line_tiles.hpp"

namespace xorder::kernel {

class LineGather {
 public:
  /// `run_bytes` of each run of the tile's source.
  LineGather(const LineTiles& tiles, std::uint64_t run_bytes);

  std::size_t lines() const { return places_.size(); }
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  /// Where the lines lie in the buffer, one line tile after the other.
  const std::uint32_t* places() const { return places_.data(); }

  /// Copies lines [first, last) of the tile at byte `tile` of the source.
  void copy(const std::byte* source, std::uint64_t tile, std::size_t first, std::size_t last,
            std::byte* buffer) const;

 private:
  std::vector<std::uint64_t> sources_;  // offsets in the tile
  std::vector<std::uint32_t> copies_;   // where they go
  std::vector<std::uint32_t> places_;
  std::size_t buffer_bytes_ = 0;
};

/// Gathers the next tile while one is written. NextLines in line_mover.hpp prefetches it instead.
class NextGathered {
 public:
  NextGathered(const LineGather& gather, const std::byte* source, std::uint64_t tile, std::byte* buffer)
      : gather_(gather), source_(source), tile_(tile), buffer_(buffer) {}

  void fetch_to(std::size_t part, std::size_t parts) {
    const std::size_t end = gather_.lines() * part / parts;
    gather_.copy(source_, tile_, copied_, end, buffer_);
    copied_ = end;
  }

 private:
  const LineGather& gather_;
  const std::byte* source_;
  std::uint64_t tile_;
  std::byte* buffer_;
  std::size_t copied_ = 0;
};

}  // namespace xorder::kernel
