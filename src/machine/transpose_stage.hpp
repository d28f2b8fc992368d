// The part of a block transposition that stays within processors: every block of a matrix is transposed by
// itself, and is then contiguous in the scratch file.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/stage.hpp"
#include "plan/block_exchange.hpp"

namespace xorder::machine {

/// A row of blocks is a matrix by itself, and its transposition has the transposed blocks one after the
/// other. So this runs the tile engine once for each row of blocks.
class TransposeStage final : public Stage {
 public:
  /// `circumstances` are those of the whole matrix.
  TransposeStage(const plan::BlockMatrix& matrix, const work::Circumstances& circumstances,
                 const plan::Device& device);
  std::vector<plan::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  std::string describe() const override;
  void move(work::Run& run, io::Location source, io::Location target, std::size_t pass) override;

 private:
  plan::BlockMatrix matrix_;
  std::vector<tiles::TileEngine> rows_;
};

}  // namespace xorder::machine
