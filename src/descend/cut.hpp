// How a file is cut into blocks, tiles and chunks, and the memory that this takes.
#pragma once

#include <cstdint>

#include "descend/groups.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// P blocks of 2^lg_block records. P = 1: the whole array is in memory.
struct Cut {
  int lg_size = 0;   ///< of the array
  int lg_block = 0;  ///< of the block of a virtual processor
  /// Sweep over offsets: so many of each block at once, in so many tiles at once.
  int lg_offsets = 0;
  unsigned tiles_at_once = 0;
  /// Sweep over blocks: in chunks of 2^lg_chunk, of which so many are under way besides those in windows.
  int lg_chunk = 0;
  unsigned chunks_at_once = 0;
  unsigned threads = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t inter_node_memory = 0, local_memory = 0;  ///< of the two sweeps, 0 for one that is not made

  std::uint64_t processors() const { return std::uint64_t{1} << (lg_size - lg_block); }
  bool in_memory() const { return lg_block == lg_size; }
  /// Iterations b ≥ lg_block, and those below.
  bool inter_node() const { return lg_block < lg_size; }
  bool local() const { return !in_memory() && lg_block > 0; }
  std::uint64_t tiles() const { return std::uint64_t{1} << (lg_block - lg_offsets); }
  std::uint64_t chunks() const { return std::uint64_t{1} << (lg_size - lg_chunk); }
  /// How many chunks before and after one its iterations of this group depend on.
  std::uint64_t halo_chunks(Bits bits) const;
};

/// The cut with the fewest processors that keeps within `memory` bytes (or with those wanted). `keeps_first`
/// is whether the local sweep writes where it reads; `threads` as in Options. Throws InputError if there is
/// none, or if sizes are no powers of two or too large.
Cut choose_cut(const Groups& groups, std::uint64_t memory, bool keeps_first, unsigned threads,
               const DescendSizes& wanted);

}  // namespace xorder::descend
