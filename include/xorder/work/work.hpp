// What every run from files to a file has in common: what it may use, what it says before, during and after.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "xorder/plan/device.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::io {
class Disk;
}

namespace xorder::work {

class Team;

/// The least memory that a run accepts.
inline constexpr std::uint64_t minimum_memory = std::uint64_t{16} << 20;

/// How blocks reach the files. All give the same bytes. direct: O_DIRECT both ways. mapped: through mapped
/// windows. automatic: mapped for small files; where the input is in the page cache and both files fit in the
/// memory given, reads from there and direct writes; direct elsewhere.
enum class EngineChoice { automatic, direct, mapped };

struct Options {
  /// Bytes for everything that grows with the data: tiles, requests, carried blocks, cached pages. The
  /// program itself comes on top, at most 40 MiB. 0: half of what is available. More than a memory cgroup
  /// allows is cut down to what it allows.
  std::uint64_t memory = 0;
  /// For permuting in memory; 0: as many as the machine (or the process's affinity) has.
  unsigned threads = 0;
  EngineChoice engine = EngineChoice::automatic;
  plan::Device device = plan::Device::ssd();
  /// For scratch files of plans with several passes; empty: the output's directory.
  std::filesystem::path scratch_directory{};
  /// Where the data of a raw output begin, in bytes; zeros come before them, for the caller to fill in
  /// afterwards.
  std::uint64_t output_offset = 0;
  /// Whether an output that exists may be replaced.
  bool overwrite = false;
  /// Through which all files are reached; nullptr: the operating system's. Outlives the work.
  io::Disk* disk = nullptr;
  /// The processes that make the output together, each with a work and options of its own; nullptr: this one
  /// alone. The amounts of memory and threads are each one's. Only for what the tile engine does. Outlives
  /// the work.
  Team* team = nullptr;
  /// In a team: each process has an input and an output of its own, which are parts of two arrays.
  bool parts = false;
  /// Then: the lowest bit of an element's index that says in which part it is; without, the top bits do. A
  /// part has its elements in the order of their indices.
  std::optional<int> lowest_part_bit{};
};

/// The file to be made: the header (empty for raw files), and the data.
struct Destination {
  std::filesystem::path path;
  std::string header;
  std::uint64_t offset = 0;  ///< where the data begin, behind the header
  std::uint64_t bytes = 0;   ///< of data

  std::uint64_t file_bytes() const { return offset + bytes; }
};

/// The memory that Options::memory means here: see there. Of so many processes on this machine that ask for
/// the same, each gets its share of what is available or allowed. Throws InputError below minimum_memory.
std::uint64_t effective_memory(std::uint64_t asked, unsigned processes = 1);

struct Progress {
  std::uint64_t bytes_done = 0;  ///< read and written so far, in all passes
  std::uint64_t bytes_total = 0;
  std::size_t pass = 1, passes = 1;
};
using ProgressCallback = std::function<void(const Progress&)>;

using plan::PassSummary;
using plan::Summary;
using plan::Traffic;

struct Report {
  std::size_t passes = 0;
  std::string engine;            ///< "io_uring", "threads" or "mapped"
  std::string access;            ///< "direct", "buffered" or "mapped": what the output's file system allowed
  std::string note;              ///< what was asked for and could not be had, or empty
  std::uint64_t bytes_read = 0;  ///< as asked of the files
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0, writes = 0;
  double seconds = 0;
  std::uint64_t peak_memory = 0;   ///< the process's largest resident set
  std::optional<Traffic> traffic;  ///< of a schedule
};

struct Frame;
class Run;

/// Something that is ready to run. Nothing has been written so far. May be used by one thread at a time.
class Work {
 public:
  virtual ~Work();

  /// What the plan says, in figures.
  Summary summary() const;
  /// For people: what will be done, line by line.
  virtual std::string describe() const = 0;
  /// Does it: reserves the output's space, moves the data, checks that no input has changed meanwhile, syncs
  /// the output and gives it its name. Blocks until then; `progress` is called by this thread many times a
  /// second. Throws InputError where there is no room, IoError and Cancelled; the destination is then as
  /// before and nothing is left behind. May be called again, which makes the output again.
  Report run(const ProgressCallback& progress = {}, std::stop_token stop = {});

 protected:
  explicit Work(Frame frame);
  Work(Work&&) noexcept;
  Work& operator=(Work&&) noexcept;

  const Frame& frame() const { return *frame_; }

 private:
  virtual std::vector<PassSummary> passes() const = 0;
  /// Where it is known before the run.
  virtual std::optional<Traffic> traffic() const { return std::nullopt; }
  /// Of the output's data.
  virtual std::uint64_t bytes() const;
  /// Of disk, besides the output.
  virtual std::uint64_t scratch_bytes() const { return 0; }
  /// Moves the data, from the run's sources to its target: all that engines differ in.
  virtual void move(Run& run) = 0;

  std::unique_ptr<Frame> frame_;
};

}  // namespace xorder::work
