// Banded transposition among virtual processors, out of core: the part that stays within processors, and
// where everything lies before and after the exchange (stripe_stage.hpp).
//
// Each of P processors has a block of consecutive columns: records of the band's storage, B places each.
// Element a[i, j] goes from the processor of column j to that of column i, where it is in record i of the
// transposed band. What a processor c has for a processor t goes into one slot: row by row i of t's block,
// and within a row by j,
//
//   i = row of t       j from max(block c, i − KL) to min(block c, i + KU)
//
// so that it is a run of record i. Modulo N in a cyclic band, where the columns of a row can begin and end in
// the same block: there may be up to three such runs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/stage.hpp"
#include "machine/stripe_stage.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/schedule/banded.hpp"

namespace xorder::machine {

class BandGeometry final : public StripeGeometry {
 public:
  /// `band` of the input, in the order `columns`; the processors of `layout` have ⌊N/P⌋ columns each, or one
  /// more.
  BandGeometry(const Band& band, const schedule::BandLayout& layout, std::uint64_t element_bytes);

  std::uint64_t before(const Part& part, std::uint64_t row) const override;
  std::span<const Run> runs(const Part& part, std::uint64_t row, std::array<Run, 3>& out) const override;
  bool dense() const override { return band_.cyclic; }

  /// The first column of a processor's block.
  std::uint64_t column(std::uint64_t block) const;
  /// What block c has for others, in the order in which the scratch file has it.
  struct Sent {
    Part part;
    std::uint64_t target = 0;  ///< the block
  };
  std::vector<Sent> sent_by(std::uint64_t block) const;
  /// Columns first .. first + count − 1 of a row, by their number in the matrix, which a part has.
  struct Columns {
    std::uint64_t first = 0, count = 0;
  };
  std::span<const Columns> columns(const Part& part, std::uint64_t row, std::array<Columns, 3>& out) const;

 private:
  Band band_;
  schedule::BandLayout layout_;
  std::uint64_t element_bytes_;
};

/// Puts what each processor will send in the order of BandGeometry.
class BandStage final : public Stage {
 public:
  /// Throws InputError if a processor's block does not fit in the memory.
  BandStage(const Band& band, const schedule::BandLayout& layout, std::uint64_t element_bytes,
            std::uint64_t memory);
  /// Whether the blocks of 2^lg_processors processors fit.
  static bool fits(const Band& band, int lg_processors, std::uint64_t element_bytes, std::uint64_t memory);

  std::vector<plan::PassSummary> passes() const override;
  std::string describe() const override;
  void move(work::Run& run, io::Location source, io::Location target, std::size_t pass) override;

 private:
  std::uint64_t block_bytes() const;

  Band band_;
  schedule::BandLayout layout_;
  BandGeometry geometry_;
  std::uint64_t element_bytes_;
  std::uint64_t memory_;
};

}  // namespace xorder::machine
