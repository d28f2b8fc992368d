// What reordering in memory is measured with, by `xorder bench memory` and by bench/memory_bench.cpp.
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

/// Of arrays of at most so many bytes, but about as many, and elements of `width` bytes.
std::vector<MemoryFamily> memory_families(std::uint64_t bytes, std::uint64_t width);

}  // namespace xorder::cli
