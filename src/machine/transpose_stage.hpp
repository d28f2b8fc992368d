// The part of a block transposition that stays within processors: every block of a matrix is transposed by
// itself, and is then contiguous in the scratch file.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/stage.hpp"
#include "plan/processors/block_exchange.hpp"

namespace xorder::machine {

/// A row of blocks is a matrix by itself, and its transposition has the transposed blocks one after the
/// other. So this runs the tile engine once for each row of blocks. It must be the first stage: rows of fewer
/// passes than others read the input in a later one.
class TransposeStage final : public Stage {
 public:
  /// `setting` is that of the whole matrix.
  TransposeStage(const plan::BlockMatrix& matrix, const plan::Setting& setting);
  std::vector<plan::PassSummary> passes() const override;
  std::string describe() const override;
  std::string steps() const override { return describe(); }  // rows of the matrix
  void adopt_alignments(const work::Run& run, const work::Relay& relay, std::size_t first) override;
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override;

 private:
  plan::BlockMatrix matrix_;
  std::vector<tiles::TileEngine> rows_;
};

}  // namespace xorder::machine
