// Tests whose arrays are small for real caches.
#pragma once

#include <memory>

#include "memory/cache_sizes.hpp"
#include "seed.hpp"

namespace xorder::test {

class AssumedCaches {
 public:
  explicit AssumedCaches(const memory::CacheSizes& sizes) { memory::assume_cache_sizes(sizes); }
  ~AssumedCaches() { memory::assume_cache_sizes(before_); }

 private:
  const memory::CacheSizes before_ = memory::cache_sizes();
};

// Small arrays are then too large for the caches, as large ones are.
inline memory::CacheSizes small_sizes(bool takes_split_lines = false) {
  return {4096, 32768, 8192, 16384, 32768, takes_split_lines};
}
class SmallCaches : AssumedCaches {
 public:
  explicit SmallCaches(bool takes_split_lines = false) : AssumedCaches(small_sizes(takes_split_lines)) {}
};

inline std::unique_ptr<SmallCaches> any_caches(Random& random) {
  return random.in(0, 1) == 0 ? std::make_unique<SmallCaches>(random.in(0, 1) == 0) : nullptr;
}

}  // namespace xorder::test
