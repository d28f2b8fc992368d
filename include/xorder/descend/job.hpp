// ±2^b-descend and -ascend computations from files to a file, larger than memory (descend.hpp has what they
// are, and what they are in memory).
//
//   const auto in = xorder::io::open_array("a.npy", {});
//   xorder::descend::DescendJob job({in}, xorder::descend::prefix(in.description.dtype, "sum"), in.description.dtype,
//                               in.description.extents, "b.npy", {});
//   job.run();
//
// The M = 2^n records are cut into P blocks of V consecutive ones, as on Hu's P processors. The iterations b
// ≥ lg V between blocks are one sweep over the file or, where memory is so small that its requests would be
// slow, several; those inside the blocks are another one. Each reads and writes everything once, a few
// records at its ends twice; src/plan/sweeps.hpp has how they are chosen. What lies between the sweeps lies
// in the output, or in a scratch file if records are larger than the output's elements. An array that fits in
// memory twice is read and written once, and so is one with iterations that do something on one side of lg V
// only (Computation::reads).
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

/// run() makes the sweeps that describe() and summary() tell of.
class DescendJob final : public work::Work {
 public:
  /// Element i of every input goes into record i, by what->load(); record i becomes element i of an output of
  /// this type and shape, by what->store(). Nothing is written. Throws InputError if there are not 2^n
  /// elements, or not equally many in all inputs and in the output; for sizes.processors that is no power of
  /// two, more than the elements, or takes more memory than there is; and if the output could not be made
  /// (Output::check).
  DescendJob(std::vector<io::ArrayFile> inputs, std::unique_ptr<Computation> what, io::DType element,
             std::vector<std::uint64_t> extents, std::filesystem::path output, work::Options options,
             DescendSizes sizes = {});
  ~DescendJob() override;

  /// P.
  std::uint64_t processors() const;
  /// run() throws InputError for inputs that the computation's check() refuses, too.
  std::string describe() const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  std::unique_ptr<Computation> what_;
  std::unique_ptr<const plan::SweepPlan> plan_;
};

}  // namespace xorder::descend
