#include "machine/transpose_stage.hpp"

#include <fmt/format.h>

namespace xorder::machine {

TransposeStage::TransposeStage(const BlockMatrix& matrix, const work::Circumstances& circumstances,
                               const plan::Device& device)
    : matrix_(matrix) {
  for (std::uint64_t i = 0; i < matrix.blocks; ++i) {
    const Reordering what = transposition(
        {{matrix.row(i + 1) - matrix.row(i), matrix.columns}, matrix.element_bytes, Order::c}, {});
    work::Circumstances c = circumstances;
    c.source_offset += matrix.scratch(i, 0);
    c.target_offset += matrix.scratch(i, 0);
    rows_.emplace_back(what, c, device);
  }
}

std::size_t TransposeStage::passes() const {
  std::size_t most = 0;
  for (const tiles::TileEngine& row : rows_) most = std::max(most, row.plan().passes.size());
  return most;
}

void TransposeStage::add_to(work::Summary& all) const {
  const std::size_t before = all.passes.size();
  all.passes.resize(before + passes());
  for (const tiles::TileEngine& row : rows_) {
    work::Summary one;
    row.add_to(one);
    all.bytes_read += one.bytes_read;
    all.bytes_written += one.bytes_written;
    all.scratch_bytes = std::max(all.scratch_bytes, one.scratch_bytes);
    for (std::size_t i = 0; i < one.passes.size(); ++i) {
      const work::PassSummary& part = one.passes[i];
      work::PassSummary& sum = all.passes[before + i];
      sum = {sum.tiles + part.tiles,
             part.tile_bytes,
             part.source_block_bytes,
             part.target_block_bytes,
             std::max(sum.memory, part.memory),
             sum.predicted_seconds + part.predicted_seconds};
    }
  }
}

std::string TransposeStage::describe() const {
  return fmt::format(
      "{} rows of {} blocks, each transposed within its processor, by tiles. The first row:\n{}",
      matrix_.blocks, matrix_.blocks, rows_.front().plan().describe());
}

void TransposeStage::run(io::Location source, io::Location target, const Environment& environment) {
  const auto scratch = [&](std::uint64_t bytes) { return environment.delivery.scratch(bytes); };
  for (std::uint64_t i = 0; i < matrix_.blocks; ++i) {
    const std::uint64_t begin = matrix_.scratch(i, 0);
    rows_[i].run({source.file, source.offset + begin}, {target.file, target.offset + begin}, scratch,
                 environment.threads, environment.pass, environment.tracker, environment.report,
                 environment.stop);
  }
}

}  // namespace xorder::machine
