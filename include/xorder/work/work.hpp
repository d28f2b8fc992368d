// What all runs from files to a file have in common: options, progress and reports.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "xorder/permutation/reordering.hpp"
#include "xorder/plan/device.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::work {

/// The smallest value of Options::memory.
inline constexpr std::uint64_t minimum_memory = std::uint64_t{16} << 20;

/// How blocks reach the files: direct by O_DIRECT, mapped by mapped windows of what is written (of the input
/// too for virtual processors). automatic uses mapped for small files. If both files fit in the given memory
/// and the input is in the page cache, it reads from there and writes directly. Otherwise it is direct.
enum class AccessChoice { automatic, direct, mapped };

struct Options {
  /// Bytes for everything that grows with the data: tiles, requests, carried blocks, cached pages. The
  /// program itself needs up to 40 MiB more, and an output in tmpfs its size. 0 means half of the available
  /// memory, after that output is subtracted. Always capped by physical memory and cgroup limits.
  std::uint64_t memory = 0;
  /// Threads for permuting in memory. 0 means one for each processor of the machine or of the process's
  /// affinity mask.
  unsigned threads = 0;
  AccessChoice access = AccessChoice::automatic;
  /// The disk, for choosing block sizes. Default: what `xorder bench disk` measured for the output's file
  /// system, or else tmpfs() within tmpfs, hdd() if the kernel calls the input's disk rotational and trial
  /// reads of the input take as long as seeks, and ssd() elsewhere. Tiles that are read from another file
  /// system are priced with that one's profile.
  std::optional<plan::Device> device{};
  /// For scratch files of plans with several passes. Empty means the output's directory.
  std::filesystem::path scratch_directory{};
  /// Where the data of a raw output begin, in bytes. The bytes before are zeros, which the caller may
  /// overwrite later.
  std::uint64_t output_offset = 0;
  /// The order that an .npy output says its axes have. A reordering's target must be made for it
  /// (stored_in(), permutation/reordering.hpp).
  Order output_order = Order::c;
  /// Whether an .npy output has the short header that NumPy writes. Its data then do not begin at a page.
  bool compact_header = false;
  /// The path of the dataset in an HDF5 output. Default: as in an HDF5 input, or else /data.
  std::string dataset{};
  /// Axis i of the output is axis kept_axes[i] of the input, with its scale, or none of them if that is -1.
  /// An HDF5 output then gets what belongs to the axes of an HDF5 input, and a raw one the header of an ENVI
  /// input. Jobs that reorder one input set it.
  std::vector<int> kept_axes{};
  /// Whether the output is several files, one for each index of its first axis. Its path is a pattern then,
  /// such as "out.%04d.npy", with one %d or %0Nd in the name of the file. All files get their names together,
  /// and none may exist. Only tiles::Job makes such outputs, in one process.
  bool split = false;
  /// Whether an existing output may be replaced.
  bool overwrite = false;
  /// Whether the output is a part of an existing file: the bytes from output_offset on are overwritten, and
  /// all others stay, whatever the file's name means. Space is not reserved, so a part with holes may find no
  /// room. If the run fails, the content of the part is undefined. Only tiles::Job, in one process.
  bool into_existing = false;
  /// Whether a run that is killed or stopped can be resumed, by the same job or by `xorder resume`: files
  /// that it has begun stay beside the output and in the scratch directory, and progress is recorded about
  /// every ten seconds. Only in one process. `xorder resume` needs `command`, but for tiles::Job.
  bool resumable = false;
  /// What `xorder resume` has to do for that: the words of a command line.
  std::vector<std::string> command{};
  /// For a plan that is only looked at: if there is no room for the output, Summary::note says so, and only
  /// run() throws.
  bool plan_only = false;
};

/// The file to be made, or several that are alike: the header of each (empty for raw files), and the data, up
/// to its end.
struct Destination {
  std::filesystem::path path;
  std::string header;
  std::uint64_t offset = 0;  ///< where the data begin, after the header
  std::uint64_t bytes = 0;   ///< of data, in all files
  std::uint64_t files = 1;
  /// A file beside a raw one that says what it holds, as an ENVI raster has it, and its text; or empty.
  std::filesystem::path header_file{};
  std::string header_text{};
  std::string note{};  ///< what of the input the output cannot have; or empty

  /// Of each file, and of all.
  std::uint64_t file_bytes() const { return offset + bytes / files; }
  std::uint64_t all_bytes() const { return files * file_bytes(); }
};

/// Resolves Options::memory for this machine. If several `processes` on it ask for the same, each gets its
/// share of the memory that is available or allowed. Outputs in tmpfs take `output_bytes` of that. Throws
/// InputError below minimum_memory.
std::uint64_t effective_memory(std::uint64_t asked, unsigned processes = 1, std::uint64_t output_bytes = 0);

struct Progress {
  std::uint64_t bytes_done = 0;  ///< read and written so far, in all passes
  std::uint64_t bytes_total = 0;
  std::size_t pass = 1, passes = 1;
};
using ProgressCallback = std::function<void(const Progress&)>;

using plan::PassSummary;
using plan::Summary;

struct Report {
  std::size_t passes = 0;
  std::string queue;             ///< "io_uring", "threads" or "mapped"
  std::string access;            ///< "direct", "buffered" or "mapped": what the output's file system allowed
  std::string note;              ///< warnings: fallbacks and mispredictions; or empty
  std::uint64_t bytes_read = 0;  ///< as requested from the files
  std::uint64_t bytes_written = 0;
  std::uint64_t reads = 0, writes = 0;
  double seconds = 0;
  std::uint64_t peak_memory = 0;  ///< the process's largest resident set
};

struct Frame;
class Run;

/// Work that is ready to run. Nothing is written before run(). Only one thread at a time may use it.
class Work {
 public:
  virtual ~Work();

  /// The plan's figures.
  Summary summary() const;
  /// What will be done, as lines of text for people.
  virtual std::string describe() const = 0;
  /// Reserves the output's space, moves the data, checks that no input has changed meanwhile, syncs the
  /// output and gives it its name. A new output gets no wider permissions than any input. Blocks until all is
  /// done. Each pass reads and writes all data once. The memory that summary() says is allocated at the
  /// beginning. This thread calls `progress` many times per second; an exception that it throws ends the run.
  /// Throws InputError if there is no room, IoError, Cancelled and std::bad_alloc. The destination is then as
  /// before, and nothing is left behind. (Two failures leave a complete output, as they say: its directory
  /// could not be synced, so that a crash of the machine may lose it, or was moved meanwhile.) May be called
  /// again, which makes the output again.
  Report run(const ProgressCallback& progress = {}, std::stop_token stop = {});
  /// What to tell if run() has thrown and another one can go on with what is there: of a resumable run, or of
  /// one in place. Otherwise "". `name` is the output's in a command line; "" means its path.
  std::string unfinished(const std::string& name = {}) const;

 protected:
  explicit Work(Frame frame);
  Work(Work&&) noexcept;
  Work& operator=(Work&&) noexcept;

  const Frame& frame() const { return *frame_; }
  /// Adds to Summary::note, unless `text` is empty.
  void note(const std::string& text);

 private:
  virtual std::vector<PassSummary> passes() const = 0;
  /// Size of the output's data.
  virtual std::uint64_t bytes() const;
  /// Disk space needed besides the output.
  virtual std::uint64_t scratch_bytes() const { return 0; }
  /// Moves the data from the run's sources to its target. This is all in which engines differ.
  virtual void move(Run& run) = 0;

  std::unique_ptr<Frame> frame_;
};

}  // namespace xorder::work
