// Measures a disk with requests like those of the engines, in files of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "io/disk.hpp"
#include "xorder/plan/device.hpp"

namespace xorder::io {

/// Block sizes worth a trial: 4 KiB to 4 MiB.
std::vector<std::uint64_t> trial_blocks();

/// Requests in flight in each direction worth a trial, ascending. The last is what plans use.
std::vector<unsigned> trial_depths();

/// Transfers blocks at random places of nameless files with direct access.
class DiskTrials {
 public:
  struct Options {
    /// Size of the file that is read; at least 64 MiB. It should exceed the caches of the disk and of a
    /// virtual machine's host.
    std::uint64_t file_bytes = std::uint64_t{2} << 30;
    /// Time limit of each trial.
    double seconds = 0.5;
    std::stop_token stop{};
  };

  /// Writes the file that the trials read. Throws InputError if there is no room or no direct access, or the
  /// files would be in memory (tmpfs), IoError, Cancelled. No file remains, whatever happens.
  DiskTrials(const std::filesystem::path& directory, const Options& options, Disk& disk = system_disk());
  ~DiskTrials();
  DiskTrials(const DiskTrials&) = delete;
  DiskTrials& operator=(const DiskTrials&) = delete;

  /// Bytes per second, with at most `depth` requests in flight. Writes go to a new file and are synced, like
  /// those of an output. Require a depth of 1 to trial_depths().back(). Throw IoError, Cancelled.
  double reads(std::uint64_t block, unsigned depth = trial_depths().back());
  double writes(std::uint64_t block, unsigned depth = trial_depths().back());
  /// Bytes per second in each direction while reads and writes run together, with this many in flight in
  /// each.
  double both(std::uint64_t block, unsigned depth = trial_depths().back());

 private:
  class Trials;
  std::unique_ptr<Trials> trials_;
};

/// Makes a device profile of measured points. A request size gets at least the bandwidth of smaller ones,
/// since a dip is noise. Larger sizes that gain nothing are left out, so that no plan spends memory on them.
/// Requires points in ascending order of size.
plan::Device profile_of(std::string name, std::vector<plan::Device::Point> points);

}  // namespace xorder::io
