// Reorders the array of one file into another file.
//
//   const auto in = xorder::io::open_array("a.npy");
//   xorder::Job job(in, xorder::transposition(), "b.npy");
//   std::cout << job.describe();                            // nothing has been written so far
//   const auto report = job.run([](const auto& p) { show(p.bytes_done, p.bytes_total); });
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/permutation.hpp"
#include "xorder/work/work.hpp"

namespace xorder::plan {
struct Plan;
}

namespace xorder::work {
class Team;
}

namespace xorder::tiles {

class TileEngine;

/// A reordering that the tile engine is ready to run. It reads and writes what summary() says, plus what
/// whole blocks add at the ends of runs. It stays within summary().memory.
class Job final : public work::Work {
 public:
  /// Makes the plan. Nothing is written. Throws InputError if the permutation does not fit the array, or the
  /// memory is too small. Throws it too if the output cannot be made: it exists and may not be replaced, is
  /// no regular file or the input itself, its directory or that of scratch files is missing or not writable,
  /// or there is no room for it. If there is too little room for scratch files, the plan takes fewer passes,
  /// and summary().note says what that costs.
  Job(const io::ArrayFile& input, const Permutation& permutation, std::filesystem::path output,
      work::Options options = {});
  /// For a reordering of the bytes of one or several inputs. These are of one type and read as if the
  /// elements of each followed those of the one before. `what` must reorder all bytes of the inputs, and
  /// `extents`, the output's shape, must have as many elements: throws InputError otherwise.
  Job(std::vector<io::ArrayFile> inputs, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, work::Options options = {});
  ~Job() override;
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  /// From now on run() reads the output again before it gets its name, past the page cache where the file
  /// system allows that, and compares it with what has been read of the inputs (verify/verify.hpp). If it
  /// differs, run() throws IoError, which says where, and leaves nothing behind. Throws
  /// InputError for a resumable run, which need not read all of the inputs again.
  void verify_output();

  const plan::Plan& plan() const;
  std::string describe() const override;

 private:
  friend std::unique_ptr<Job> job_of_team(std::vector<io::ArrayFile> inputs, const Reordering& what,
                                          std::vector<std::uint64_t> extents, std::filesystem::path output,
                                          work::Options options, work::Team& team);
  Job(const Permuted& permuted, const io::ArrayFile& input, std::filesystem::path output,
      work::Options options);
  Job(std::vector<io::ArrayFile> inputs, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, work::Options options, work::Team* team);
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  std::unique_ptr<TileEngine> tiles_;
  bool verifies_ = false;
};

}  // namespace xorder::tiles

namespace xorder {
using tiles::Job;
}
