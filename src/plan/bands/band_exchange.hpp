// How banded matrices in band storage are transposed among virtual processors
// (schedule/banded/bands_at_once.hpp). First each block is put in the order in which it is sent. Then the
// processors exchange the elements, in stripes. Several matrices have the same N, lie one after the other
// in their file, and share the network.
//
// Each of P processors has a block of consecutive columns of each matrix: records of the band's storage, B
// places each. Element a[i, j] goes from the processor of column j to that of column i, where it is in record
// i of the transposed band. The elements that processor c has for processor t go into one slot, ordered by
// the row i of t's block and within a row by j,
//
//   i = row of t       j from max(block c, i − KL) to min(block c, i + KU)
//
// so the elements of a row are a run of record i. In a cyclic band j counts modulo N, and the columns of a
// row can begin and end in the same block: a row may have up to three such runs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/processors/stripes.hpp"
#include "schedule/banded/bands_at_once.hpp"
#include "xorder/permutation/band.hpp"

namespace xorder::plan {

class BandGeometry final : public StripeGeometry {
 public:
  /// `bands` of the input, in the order `columns`, and where their blocks lie on 2^dimension processors,
  /// which have ⌊N/P⌋ columns each, or one more.
  BandGeometry(const std::vector<Band>& bands, const std::vector<schedule::PlacedBand>& placed, int dimension,
               std::uint64_t element_bytes);

  std::uint64_t before(const Part& part, std::uint64_t row) const override;
  void runs(const Part& part, std::uint64_t first, std::uint64_t end, std::vector<Runs>& out) const override;
  bool dense() const override;

  std::uint64_t processors() const { return std::uint64_t{1} << dimension_; }
  /// The number of blocks: P of each matrix. Block mP + c is block c of matrix m.
  std::uint64_t blocks() const { return matrices_.size() * processors(); }
  /// Where a block begins in the file, before and after. begin(blocks()) is where the last one ends.
  std::uint64_t begin(std::uint64_t block) const;
  /// The size of the largest block.
  std::uint64_t block_bytes() const;

  /// What a block sends to another: a part and its rows. sent_by() lists them in the scratch file's order.
  struct Sent {
    Part part;
    std::uint64_t target = 0;  ///< the number of the block
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Sent> sent_by(std::uint64_t block) const;
  /// Consecutive elements of a row of a part. They lie pitch(part) apart in the input.
  struct Diagonal {
    std::uint64_t source = 0;  ///< of the first, from the beginning of the data
    std::uint64_t count = 0;
  };
  std::span<const Diagonal> diagonals(const Part& part, std::uint64_t row,
                                      std::array<Diagonal, 3>& out) const;
  /// The bytes from an element to the next: one record further, one place earlier.
  std::uint64_t pitch(const Part& part) const { return matrices_[part.matrix].row_bytes - element_bytes_; }
  std::uint64_t element_bytes() const { return element_bytes_; }

 private:
  // The matrix's columns first .. first + count − 1, those of a row that are in a part.
  struct Columns {
    std::uint64_t first = 0, count = 0;
  };
  std::span<const Columns> columns(const Part& part, std::uint64_t row, std::array<Columns, 3>& out) const;
  /// The first column of block c of any matrix.
  std::uint64_t column(std::uint64_t c) const;

  struct Matrix {
    Band band;
    schedule::PlacedBand placed;
    std::uint64_t row_bytes = 0;
    std::uint64_t begin = 0;  ///< in the file
  };
  std::vector<Matrix> matrices_;
  int dimension_;
  std::uint64_t columns_, element_bytes_;
};

struct BandExchangePlan {
  std::shared_ptr<const BandGeometry> geometry;
  schedule::BandsAtOnce at_once;
  PassSummary within;  ///< the first pass: puts each processor's block in the order in which it is sent
  StripePlan stripes;

  /// Describes the first pass.
  std::string describe() const;
};
/// Throws InputError for another order than `columns` and `rows` (whose processors have rows), for a number
/// of processors that does not fit, and if the memory is too small. Requires check(bands).
BandExchangePlan plan_band_exchange(const std::vector<Band>& bands, std::uint64_t element_bytes,
                                    const ProcessorSetting& setting);

}  // namespace xorder::plan
