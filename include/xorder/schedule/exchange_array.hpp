// An array w(i, j) that describes a total exchange on a hypercube (src/schedule/exchange.hpp).
#pragma once

#include <cstdint>
#include <vector>

namespace xorder::schedule {

/// In step i node v sends over dimension j the word in slot w(i, j) ⊕ v, or for a bit reversal in that slot
/// with its bits reversed; 0 leaves the link idle. A row of `dimension` words for each step.
struct ExchangeArray {
  int dimension = 0;
  std::vector<std::uint64_t> words;

  std::uint64_t rows() const {
    return dimension == 0 ? 0 : words.size() / static_cast<std::uint64_t>(dimension);
  }
  std::uint64_t word(std::uint64_t row, int j) const {
    return words[row * static_cast<std::uint64_t>(dimension) + static_cast<std::uint64_t>(j)];
  }
};

}  // namespace xorder::schedule
