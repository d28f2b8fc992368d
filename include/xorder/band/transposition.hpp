// From file to file: the transposition of a banded matrix in band storage.
//
//   const auto in = xorder::io::open_array("ab.npy", {});       // (KL + KU + 1, N), as SciPy has it
//   xorder::band::BandTransposition work(in, {.n = in.description.extents[1], .lower = 3, .upper = 2,
//                                            .order = xorder::BandOrder::diagonals}, "out.npy", {});
//   work.run();
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/work/work.hpp"

namespace xorder::plan {
struct BandTiling;
}

namespace xorder::band {

/// Reads and writes every element once (reads some of a cyclic band twice, see
/// src/plan/bands/band_strips.hpp), in one pass, in runs of about √(memory / element) elements or longer.
/// Runs are whole rows if B × B elements fit in memory, and long ranges of diagonals in the orders
/// `diagonals` and `row_diagonals`. Unused places of the output are zeros.
class BandTransposition final : public work::Work {
 public:
  /// The input holds `band`, in C order. The constructor writes nothing. It throws InputError if the band is
  /// wider than the matrix, the input's shape is not band.extents(), the input is in Fortran order, the
  /// memory is too small for strips of one diagonal, or the output cannot be made.
  BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                    work::Options options);
  /// For several matrices, whose storages lie one after the other in the output. They lie in one input in the
  /// same way, or each has an input of its own. An input has the shape extents() of its bands; that of a
  /// single band may also be (1, N, B), (1, B, N) or (N·B). The output has the shape of a single input, or
  /// else extents(bands). All matrices take one pass: one after another, or many at a time if they are small,
  /// alike and in one input. Also throws InputError for any other number of inputs, and if their types
  /// differ.
  BandTransposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands, std::filesystem::path output,
                    work::Options options);
  /// The same with given sizes of the parts, for tests.
  BandTransposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands, std::filesystem::path output,
                    work::Options options, const plan::BandTiling& tiling);
  ~BandTransposition() override;

  std::string describe() const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  void move(work::Run& run) override;
  void adopt_alignments(work::Run& run);

  /// The plans, with the conditions and sizes that they were made for.
  struct Planned;
  std::vector<Band> bands_;
  std::unique_ptr<Planned> planned_;
};

}  // namespace xorder::band
