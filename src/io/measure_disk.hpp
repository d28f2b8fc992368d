// What a disk can do, by trying it: requests of the engines' kinds in files of their own.
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

/// Sizes of blocks that are worth a trial: 4 KiB to 4 MiB.
std::vector<std::uint64_t> trial_blocks();

/// Blocks at random places of nameless files, with direct access, as many in flight as plans have there.
class DiskTrials {
 public:
  struct Options {
    /// Of the file that is read, at least 64 MiB. Caches of the disk and of a virtual machine's host should
    /// be smaller.
    std::uint64_t file_bytes = std::uint64_t{2} << 30;
    /// Of each trial, at most.
    double seconds = 0.5;
    std::stop_token stop{};
  };

  /// Writes the file that is read. Throws InputError if there is no room or no direct access, IoError,
  /// Cancelled; whatever happens, no file stays.
  DiskTrials(const std::filesystem::path& directory, const Options& options, Disk& disk = system_disk());
  ~DiskTrials();
  DiskTrials(const DiskTrials&) = delete;
  DiskTrials& operator=(const DiskTrials&) = delete;

  /// Bytes per second; writes are synced, and go to a new file, like the blocks of an output. Throw IoError,
  /// Cancelled.
  double reads(std::uint64_t block);
  double writes(std::uint64_t block);
  /// Each way, while both go on.
  double both(std::uint64_t block);

 private:
  class Trials;
  std::unique_ptr<Trials> trials_;
};

/// What plans go by, of what was measured: requests of some size reach at least what smaller ones do (a dip
/// is noise), and larger ones that gain nothing are left out, so that no plan spends memory on them. Requires
/// points in ascending order.
plan::Device profile_of(std::string name, std::vector<plan::Device::Point> points);

}  // namespace xorder::io
