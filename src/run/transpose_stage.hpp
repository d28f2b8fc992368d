// The part of a block transposition that stays within processors: every block of a matrix is transposed by
// itself, and lies together in the scratch file then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "run/stage.hpp"

namespace xorder::run {

/// K × K blocks of a matrix of any shape, as equal as can be: block (i, j) has the rows [rows(i), rows(i +
/// 1)) and the columns [columns(j), columns(j + 1)).
struct BlockMatrix {
  std::uint64_t rows = 0, columns = 0, blocks = 1;
  std::uint64_t element_bytes = 1;

  std::uint64_t row(std::uint64_t i) const { return begin(rows, i); }
  std::uint64_t column(std::uint64_t j) const { return begin(columns, j); }
  /// Where block (i, j) begins in the scratch file: row by row of blocks.
  std::uint64_t scratch(std::uint64_t i, std::uint64_t j) const {
    return (row(i) * columns + (row(i + 1) - row(i)) * column(j)) * element_bytes;
  }

 private:
  std::uint64_t begin(std::uint64_t extent, std::uint64_t k) const {
    return extent / blocks * k + std::min(k, extent % blocks);
  }
};

class TransposeStage final : public Stage {
 public:
  /// Throws InputError if a column of a block is too long for the memory.
  TransposeStage(BlockMatrix matrix, std::uint64_t memory);
  void add_to(Summary& all) const override;
  std::string describe() const override;
  void run(Place source, Place target, const Environment& environment) override;

 private:
  class Panel;
  std::uint64_t panel_bytes() const;

  BlockMatrix matrix_;
  std::uint64_t memory_;
  std::uint64_t width_ = 1;  // columns of a block that are transposed at once
};

}  // namespace xorder::run
