// Reordering an array in memory.
#pragma once

#include <cstddef>

#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// Copies what.bytes() bytes from `source` to `target`, every element to its place: element x of the source
/// becomes element what.target_index(x) of the target. The two do not overlap; no alignment is required.
/// `threads` 0: all processors. Reads and writes every byte once; allocates about 8 bytes for each 4 to 64
/// KiB of the array. Throws InputError for a reordering that is not well formed.
void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads = 0);

}  // namespace xorder::memory
