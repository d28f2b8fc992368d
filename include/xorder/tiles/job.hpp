// Reorders the array of one file into another file.
//
//   const auto in = xorder::io::open_array("a.npy", {});
//   const auto shape = in.description.shape();
//   xorder::tiles::Job job(in, xorder::transposition(shape, {}), xorder::transposed_extents(shape, {}),
//                          "b.npy", {});
//   std::cout << job.describe();                            // nothing has been written so far
//   const auto report = job.run([](const auto& p) { show(p.bytes_done, p.bytes_total); });
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
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
  /// Makes the plan. Nothing is written. `what` must reorder all bytes of the input, and `extents`, the
  /// output's shape, must have as many elements. Throws InputError if they do not, or if the memory is too
  /// small. Throws it too if the output cannot be made: it exists and may not be replaced, is no regular file
  /// or the input itself, its directory or that of scratch files is missing or not writable, or there is no
  /// room for it. If there is too little room for scratch files, the plan takes fewer passes, and
  /// summary().note says what that costs.
  ///
  /// Several inputs, of one type, are read as if the elements of each followed those of the one before.
  ///
  /// `team` is for xorder-mpi: the processes that make the output together (src/work/team.hpp), each with its
  /// own Job. Memory and threads are per process. It must outlive the job.
  Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, work::Options options, work::Team* team = nullptr);
  Job(std::vector<io::ArrayFile> inputs, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, work::Options options, work::Team* team = nullptr);
  ~Job() override;
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  const plan::Plan& plan() const;
  std::string describe() const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  std::unique_ptr<TileEngine> tiles_;
};

}  // namespace xorder::tiles
