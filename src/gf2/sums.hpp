// All elements of a coset over GF(2), in the order of their coordinates.
#pragma once

#include <cstddef>
#include <vector>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::gf2 {

/// `start` plus every sum of the vectors; bit i of the position selects vectors[i].
inline std::vector<Word> sums(const std::vector<Word>& vectors, Word start = 0) {
  std::vector<Word> all{start};
  for (const Word v : vectors) {
    for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] ^ v);
  }
  return all;
}

}  // namespace xorder::gf2
