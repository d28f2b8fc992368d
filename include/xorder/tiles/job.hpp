// From file to file: a reordering of the array in one file, written to another.
//
//   const auto in = xorder::io::open_array("a.npy", {});
//   const auto shape = in.description.shape();
//   xorder::tiles::Job job(in, xorder::transposition(shape, {}), xorder::transposed_extents(shape, {}), "b.npy", {});
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

namespace xorder::tiles {

class TileEngine;

/// A reordering that is ready to run, by the tile engine.
class Job final : public work::Work {
 public:
  /// Makes the plan. Nothing is written. `extents` is the output's shape. Throws InputError if the plan
  /// cannot be made (make_plan), or the output (Output::check) or scratch files could not be made.
  Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, work::Options options);
  ~Job() override;
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  const plan::Plan& plan() const;
  /// The memory that the job keeps within: the plan's, and the pages that pass through the page cache.
  std::uint64_t memory() const { return memory_; }
  bool mapped() const;

  work::Summary summary() const override;
  std::string describe() const override;
  /// Reads and writes plan().bytes_read() and bytes_written(), supersets aside.
  work::Report run(const work::ProgressCallback& progress = {}, std::stop_token stop = {}) override;

 private:
  io::ArrayFile input_;
  work::Destination output_;
  work::Options options_;
  std::uint64_t memory_ = 0;
  struct Reach;
  std::unique_ptr<Reach> reach_;
  bool keep_cached_ = false;  // everything fits in memory: leave the pages there, as cp would
  std::unique_ptr<TileEngine> tiles_;
};

}  // namespace xorder::tiles
