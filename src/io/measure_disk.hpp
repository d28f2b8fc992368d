// What a disk can do, by trying it: requests of the engines' kinds in files of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "io/disk.hpp"
#include "xorder/plan/device.hpp"

namespace xorder::io {

struct DiskTrials {
  /// Of each of two nameless files, at least 64 MiB. Caches of the disk and of a virtual machine's host should be smaller.
  std::uint64_t file_bytes = std::uint64_t{2} << 30;
  /// Of each trial, at most; there are 22.
  double seconds = 0.5;
  /// Is told what is tried next.
  std::function<void(const std::string&)> progress{};
  std::stop_token stop{};
};

/// Reads, writes, and does both at once, at random places of files in `directory`, with 4 KiB to 4 MiB at once and direct
/// access, and finds how many requests should be in flight. Larger requests that gain nothing are left out, so that no plan
/// spends memory on them. Throws InputError if there is no room or no direct access, IoError, Cancelled; the files are gone in
/// any case.
plan::Device measure_disk(const std::filesystem::path& directory, const DiskTrials& trials,
                          Disk& disk = system_disk());

}  // namespace xorder::io
