// A matrix over GF(2) as tables, for when it is applied to very many vectors.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gf2/sums.hpp"
#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::gf2 {

/// A table of 2 KiB for each eight columns: a look-up for each of them instead of an exclusive or for each
/// bit that is set.
class ByteTables {
 public:
  explicit ByteTables(std::span<const Word> columns) {
    for (std::size_t j = 0; j < columns.size(); j += width) {
      const auto some = columns.subspan(j, std::min<std::size_t>(width, columns.size() - j));
      std::vector<Word> table = sums({some.begin(), some.end()});
      table.resize(std::size_t{1} << width);
      tables_.insert(tables_.end(), table.begin(), table.end());
    }
  }

  /// A x; bits of x beyond the columns must be 0.
  Word operator()(Word x) const {
    Word y = 0;
    for (const Word* table = tables_.data(); x != 0; x >>= width, table += std::size_t{1} << width)
      y ^= table[x & low_mask(width)];
    return y;
  }

 private:
  static constexpr int width = 8;
  std::vector<Word> tables_;
};

}  // namespace xorder::gf2
