// The sizes of this machine's caches, on which the tiles depend.
#pragma once

#include <cstddef>

namespace xorder::memory {

struct CacheSizes {
  std::size_t first = 32 * 1024;    ///< first-level data cache of one processor
  std::size_t second = 512 * 1024;  ///< second level of one processor
};

/// Asks the system once. Unknown sizes have the values above.
const CacheSizes& cache_sizes();

}  // namespace xorder::memory
