// ±2^b-descend and -ascend computations from files to a file, larger than memory. descend.hpp explains them
// and has them in memory.
//
//   const auto in = xorder::io::open_array("a.npy", {});
//   const auto& type = in.description.dtype;
//   xorder::descend::DescendJob job({in}, xorder::descend::prefix(type, "sum"), type, in.description.extents,
//                                   "b.npy", {});
//   job.run();
//
// The M = 2^n records are cut into P blocks of V consecutive ones, as on Hu's P processors. (If no record
// depends on later ones, as in prefix sums, the arrays may have fewer than M elements.) The iterations b ≥ lg
// V between blocks are one sweep over the file or, if memory is so small that its requests would be
// slow, several. The iterations inside the blocks are another sweep. Each sweep reads and writes everything
// once, and may read a few records at its ends twice; src/plan/descend/sweeps.hpp explains how sweeps are
// chosen. The records between two sweeps lie in the output, or in a scratch file if their size is not
// that of the output's elements. A small array, of some tens of MiB, is read and written once. So is a larger
// one, if memory holds it twice and so much fresh memory is predicted to take less time than another sweep;
// and one whose iterations have nothing to do on one side of lg V (Computation::reads).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "xorder/descend/descend.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::plan {
struct SweepPlan;
}

namespace xorder::descend {

/// run() makes the sweeps that describe() and summary() show.
class DescendJob final : public work::Work {
 public:
  /// Element i of every input goes into record i, by what->load(). Record i becomes element i of an output of
  /// this type and shape, by what->store(). The constructor writes nothing. It throws InputError if there are
  /// not 2^n elements, unless what->is_causal(), or not equally many in all inputs and in the output; if an
  /// input is in Fortran order; if sizes.processors is not a power of two, is more than the elements, or
  /// takes more memory than there is; and if the output cannot be made, as tiles::Job says.
  DescendJob(std::vector<io::ArrayFile> inputs, std::unique_ptr<Computation> what, io::DType element,
             std::vector<std::uint64_t> extents, std::filesystem::path output, work::Options options,
             plan::SweepSizes sizes = {});
  ~DescendJob() override;

  /// P.
  std::uint64_t processors() const;
  /// (run() also throws InputError for inputs that the computation's check() refuses.)
  std::string describe() const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  std::unique_ptr<Computation> what_;
  std::unique_ptr<const plan::SweepPlan> plan_;
};

}  // namespace xorder::descend
