// The sizes of this machine's caches, on which the tiles depend, and what is written past them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xorder::memory {

struct CacheSizes {
  std::size_t first = 32 * 1024;    ///< first-level data cache of one processor
  std::size_t second = 512 * 1024;  ///< second level of one processor
  std::size_t third = 32 << 20;     ///< third level
  /// The largest array that is written through the caches from a buffer; larger ones are written past them.
  std::size_t written_through = std::size_t{1} << 20;
  /// The largest array whose tiles go straight from the source to the target; at least as large.
  std::size_t scattered_through = std::size_t{1} << 20;
  /// Whether arrays of up to `scattered_through` bytes are transposed directly even where runs do not begin
  /// at lines, so that lines are written in two halves.
  bool takes_split_lines = false;
};

/// Asks the system once. Unknown sizes have the values above.
const CacheSizes& cache_sizes();
/// For tests: later calls of cache_sizes() return these. Not while another thread makes a plan.
void assume_cache_sizes(const CacheSizes& sizes);

/// Whether a source and a target of this many bytes each fit in the caches together.
inline bool in_caches(std::uint64_t bytes) { return 2 * bytes <= cache_sizes().third; }
/// Whether an array is so large that lines which share sets have left the third level, too, before they are
/// used: from 512 MiB on if that has 32 MiB.
inline bool leaves_the_caches(std::uint64_t bytes) { return bytes >= 16 * cache_sizes().third; }
/// Whether tiles go to their places through the caches, without a buffer.
inline bool written_directly(std::uint64_t array_bytes) {
  return array_bytes <= cache_sizes().scattered_through;
}

}  // namespace xorder::memory
