// The reorderings in memory that `xorder bench memory` and bench/memory_bench.cpp measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {

struct MemoryFamily {
  std::string key;   ///< a word
  std::string name;  ///< for people
  Reordering what;
};

/// For arrays of at most `bytes` bytes, but nearly as many, with elements of `width` bytes.
std::vector<MemoryFamily> memory_families(std::uint64_t bytes, std::uint64_t width);

}  // namespace xorder::cli
