// What of this machine's caches the tiles depend on.
#pragma once

#include <cstddef>

namespace xorder::memory {

struct CacheSizes {
  std::size_t first = 32 * 1024;    ///< first-level data cache of one processor
  std::size_t second = 512 * 1024;  ///< second level of one processor
};

/// Asks the system once; what it does not say has the values above.
const CacheSizes& cache_sizes();

}  // namespace xorder::memory
