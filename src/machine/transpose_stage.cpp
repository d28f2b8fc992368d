#include "machine/transpose_stage.hpp"

#include <fmt/format.h>

namespace xorder::machine {

TransposeStage::TransposeStage(const plan::BlockMatrix& matrix, const work::Circumstances& circumstances,
                               const plan::Device& device)
    : matrix_(matrix) {
  for (std::uint64_t i = 0; i < matrix.blocks; ++i) {
    const Reordering what = transposition(
        {{matrix.row(i + 1) - matrix.row(i), matrix.columns}, matrix.element_bytes, Order::c}, {});
    work::Circumstances c = circumstances;
    c.touched_memory = c.memory / matrix.blocks * (matrix.blocks - 1);  // shares fresh memory among all rows
    c.source_offset += matrix.scratch(i, 0);
    c.target_offset += matrix.scratch(i, 0);
    rows_.emplace_back(what, c, device);
  }
}

std::vector<plan::PassSummary> TransposeStage::passes() const {
  std::vector<plan::PassSummary> all;
  for (const tiles::TileEngine& row : rows_) {
    const std::vector<plan::PassSummary> passes = row.passes();
    all.resize(std::max(all.size(), passes.size()));
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const plan::PassSummary sum = all[i];
      all[i] = passes[i];
      all[i].tiles += sum.tiles;
      all[i].memory = std::max(all[i].memory, sum.memory);
      all[i].bytes_read += sum.bytes_read;
      all[i].bytes_written += sum.bytes_written;
      all[i].predicted_seconds += sum.predicted_seconds;
    }
  }
  return all;
}

std::uint64_t TransposeStage::scratch_bytes() const {
  std::uint64_t most = 0;
  for (const tiles::TileEngine& row : rows_) most = std::max(most, row.plan().scratch_bytes());
  return most;
}

std::string TransposeStage::describe() const {
  return fmt::format(
      "{} rows of {} blocks, each transposed within its processor, by tiles. The first row:\n{}",
      matrix_.blocks, matrix_.blocks, rows_.front().plan().describe());
}

void TransposeStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  for (std::uint64_t i = 0; i < matrix_.blocks; ++i) {
    const std::uint64_t begin = matrix_.scratch(i, 0);
    rows_[i].run(run, {source.file, source.offset + begin}, {target.file, target.offset + begin}, pass);
  }
}

}  // namespace xorder::machine
