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

namespace xorder::io {
class File;
}
namespace xorder::plan {
struct BandTiling;
}

namespace xorder::band {

/// Reads and writes every element once (of a cyclic band a few twice, see src/plan/band_strips.hpp), in one
/// pass, in runs of about √(memory / element) elements or longer: of whole rows if B × B elements fit in
/// memory, and always if the order is `diagonals` or `row_diagonals`. Unused places of the output are zeros.
class BandTransposition final : public work::Work {
 public:
  /// The input holds `band`, in C order. Nothing is written. Throws InputError if the band is wider than the
  /// matrix, the input's shape is not band.extents() or Fortran-ordered, memory does not suffice
  /// (plan::BandStrips), or the output could not be made.
  BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                    work::Options options);
  /// Several matrices, whose storages lie one after the other in the input and in the output, in the same
  /// shape: that of extents(bands), or, of a single one, (1, N, B) or (1, B, N) as well. In one pass: one after
  /// the other, or small ones that are alike many at a time.
  BandTransposition(io::ArrayFile input, std::vector<Band> bands, std::filesystem::path output,
                    work::Options options);
  /// The same with sizes of the parts given, for tests.
  BandTransposition(io::ArrayFile input, std::vector<Band> bands, std::filesystem::path output,
                    work::Options options, const plan::BandTiling& tiling);
  ~BandTransposition() override;

  const std::vector<Band>& bands() const { return bands_; }
  std::string describe() const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  void move(work::Run& run) override;
  void adopt_alignments(const io::File& source, const io::File& target);

  /// What was planned, and with which sizes given.
  struct Planned;
  void make_plans();
  std::vector<Band> bands_;
  std::unique_ptr<Planned> planned_;
};

}  // namespace xorder::band
