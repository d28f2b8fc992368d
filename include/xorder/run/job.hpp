// From file to file: a reordering of the array in one file, written to another.
//
//   const auto in = xorder::io::open_array("a.npy", {});
//   const auto shape = in.description.shape();
//   xorder::run::Job job(in, xorder::transposition(shape, {}), xorder::transposed_extents(shape, {}), "b.npy", {});
//   std::cout << job.plan().describe();            // nothing has been written so far
//   const auto report = job.run([](const auto& p) { show(p.bytes_done, p.bytes_total); });
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/plan/plan.hpp"

namespace xorder::run {

/// The least memory that a job accepts.
inline constexpr std::uint64_t minimum_memory = std::uint64_t{16} << 20;

/// How blocks reach the files. All give the same bytes. direct: O_DIRECT both ways. mapped: through mapped windows.
/// automatic: mapped for small files; where the input is in the page cache and both files fit in the memory given, reads
/// from there and direct writes; direct elsewhere.
enum class EngineChoice { automatic, direct, mapped };

struct Options {
  /// Bytes for everything that grows with the data: tiles, requests, carried blocks, cached pages. The program itself comes on
  /// top, at most 40 MiB. 0: half of what is available. More than a memory cgroup allows is cut down to what it allows.
  std::uint64_t memory = 0;
  /// For permuting in memory; 0: as many as the machine (or the process's affinity) has.
  unsigned threads = 0;
  EngineChoice engine = EngineChoice::automatic;
  plan::Device device = plan::Device::ssd();
  /// For scratch files of plans with several passes; empty: the output's directory.
  std::filesystem::path scratch_directory{};
  /// Whether an output that exists may be replaced.
  bool overwrite = false;
};

struct Progress {
  std::uint64_t bytes_done = 0;   ///< read and written so far, in all passes
  std::uint64_t bytes_total = 0;
  std::size_t pass = 1, passes = 1;
};
using ProgressCallback = std::function<void(const Progress&)>;

struct Report {
  std::size_t passes = 0;
  std::string engine;              ///< "io_uring", "threads" or "mapped"
  std::string access;              ///< "direct", "buffered" or "mapped": what the output's file system allowed
  std::string note;                ///< what was asked for and could not be had, or empty
  std::uint64_t bytes_read = 0;    ///< as asked of the files
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0, writes = 0;
  double seconds = 0;
  std::uint64_t peak_memory = 0;   ///< the process's largest resident set
};

/// A reordering that is ready to run.
class Job {
 public:
  /// Makes the plan. Nothing is written. `extents` is the output's shape. Throws InputError if the plan cannot be made
  /// (make_plan) or the output could not be (Output::check).
  Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
      std::filesystem::path output, Options options);

  const plan::Plan& plan() const { return plan_; }
  /// The memory that the job keeps within: the plan's, and the pages that pass through the page cache.
  std::uint64_t memory() const { return memory_; }
  bool mapped() const { return source_access_ == io::Access::mapped; }

  /// Does it: reserves the output's space, moves the data, checks that the input has not changed meanwhile, syncs the
  /// output and gives it its name. Blocks until then; `progress` is called by this thread many times a second. Throws
  /// InputError where there is no room, IoError and Cancelled; the destination is then as before and nothing is left
  /// behind. Reads and writes plan().bytes_read() and bytes_written(), supersets aside.
  Report run(const ProgressCallback& progress = {}, std::stop_token stop = {});

 private:
  unsigned queue_depth() const;

  io::ArrayFile input_;
  std::vector<std::uint64_t> extents_;
  std::filesystem::path output_;
  Options options_;
  io::Access source_access_ = io::Access::direct, target_access_ = io::Access::direct;
  std::uint64_t memory_ = 0;
  bool through_cache_ = false;  // pages that are in use and on their way to the disk count too
  bool keep_cached_ = false;  // everything fits in memory: leave the pages there, as cp would
  std::string header_;        // of the output
  plan::Plan plan_;
};

/// The memory that Options::memory means here: see there. Throws InputError below minimum_memory.
std::uint64_t effective_memory(std::uint64_t asked);

}  // namespace xorder::run
