#include "machine/transpose_stage.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace xorder::machine {

TransposeStage::TransposeStage(const plan::BlockMatrix& matrix, const plan::Setting& setting)
    : matrix_(matrix) {
  for (std::uint64_t i = 0; i < matrix.blocks; ++i) {
    const Reordering what = transposition(
        {{matrix.row(i + 1) - matrix.row(i), matrix.columns}, matrix.element_bytes, Order::c}, {});
    plan::Setting row = setting;
    row.touched_memory = row.memory / matrix.blocks * (matrix.blocks - 1);  // all rows share fresh memory
    row.source_offset += matrix.scratch(i, 0);
    row.target_offset += matrix.scratch(i, 0);
    row.scratch_offset += matrix.scratch(i, 0);
    rows_.emplace_back(what, row);
  }
}

// The passes of a row with fewer of them than others are the last ones (TileEngine::run()).
std::vector<plan::PassSummary> TransposeStage::passes() const {
  std::vector<plan::PassSummary> all;  // the last one first
  for (const tiles::TileEngine& row : rows_) {
    const std::vector<plan::PassSummary> passes = row.passes();
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const plan::PassSummary& pass = passes[passes.size() - 1 - i];
      if (i < all.size())
        all[i] += pass;
      else
        all.push_back(pass);
    }
  }
  std::ranges::reverse(all);
  return all;
}

std::string TransposeStage::describe() const {
  return fmt::format(
      "{} rows of {} blocks, each transposed within its processor, by tiles. The first row:\n{}",
      matrix_.blocks, matrix_.blocks, rows_.front().plan().describe_part());
}

void TransposeStage::adopt_alignments(const work::Run& run, const work::Relay& relay, std::size_t first) {
  const std::size_t last = first + passes().size();
  for (std::uint64_t i = 0; i < matrix_.blocks; ++i)
    rows_[i].adopt_alignments(run, relay, {first, last, matrix_.scratch(i, 0)});
}

// A step is a row, whose passes are counted one by one.
void TransposeStage::move(work::Run& run, const work::Relay& relay, std::size_t first) {
  const std::size_t count = passes().size(), last = first + count;
  std::uint64_t row = 0;
  const auto transpose_rows = [&](std::uint64_t from, std::uint64_t to) {
    for (; row < from; ++row) {  // an earlier run has done them
      for (const work::PassSummary& pass : rows_[row].passes()) {
        const std::uint64_t bytes = pass.bytes_read + pass.bytes_written;
        run.begin(bytes, last, bytes);
      }
    }
    for (; row < to; ++row) rows_[row].run(run, relay, {first, last, matrix_.scratch(row, 0)});
  };
  double seconds = 0;
  for (const work::PassSummary& pass : passes()) seconds += pass.predicted_seconds;
  run.perform({last - 1, matrix_.blocks, 0, seconds, 1}, relay.target(last - 1).file, transpose_rows);
  transpose_rows(matrix_.blocks, matrix_.blocks);
}

}  // namespace xorder::machine
