// The part of a block transposition that stays within processors: every block of a matrix is transposed by
// itself, and lies together in the scratch file then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/stage.hpp"

namespace xorder::machine {

/// K × K blocks of a matrix of any shape, as equal as can be: block (i, j) has the rows [row(i), row(i + 1))
/// and the columns [column(j), column(j + 1)).
struct BlockMatrix {
  std::uint64_t rows = 0, columns = 0, blocks = 1;
  std::uint64_t element_bytes = 1;

  std::uint64_t row(std::uint64_t i) const { return begin(rows, i); }
  std::uint64_t column(std::uint64_t j) const { return begin(columns, j); }
  /// Where block (i, j) begins in the scratch file: block row by block row.
  std::uint64_t scratch(std::uint64_t i, std::uint64_t j) const {
    return (row(i) * columns + (row(i + 1) - row(i)) * column(j)) * element_bytes;
  }

 private:
  std::uint64_t begin(std::uint64_t extent, std::uint64_t k) const {
    return extent / blocks * k + std::min(k, extent % blocks);
  }
};

/// A row of blocks is a matrix by itself, and its transposition has the transposed blocks one after the
/// other. So this is the tile engine once for each row of blocks.
class TransposeStage final : public Stage {
 public:
  /// `circumstances` of the whole matrix.
  TransposeStage(const BlockMatrix& matrix, const work::Circumstances& circumstances,
                 const plan::Device& device);
  std::vector<plan::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  std::string describe() const override;
  void move(work::Run& run, io::Location source, io::Location target, std::size_t pass) override;

 private:
  BlockMatrix matrix_;
  std::vector<tiles::TileEngine> rows_;
};

}  // namespace xorder::machine
