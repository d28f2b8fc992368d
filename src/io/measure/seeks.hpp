// Tells spinning disks from others without writing anything.
#pragma once

#include <optional>

#include "io/disk.hpp"
#include "io/file.hpp"

namespace xorder::io {

/// Whether the kernel takes the file's disk for a spinning one. Most virtual disks are said to spin and do
/// not. False if the kernel does not know.
bool said_to_spin(const File& file);

/// Median times of reads of one block, in seconds.
struct ReadTimes {
  double elsewhere = 0;  ///< at a random place
  double next = 0;       ///< right behind the read before

  /// Whether the disk moves a head between places: that takes milliseconds, and the next block none. Where
  /// reads wait for other work of the disk, both take long.
  bool of_spinning_disk() const { return elsewhere > 2e-3 && elsewhere > 4 * next; }
};
/// Reads 16 pairs of neighbouring blocks past the page cache, one block after another. Nothing if the file
/// refuses direct access, a read fails, or the file has fewer than 1024 blocks.
std::optional<ReadTimes> read_times(const File& file, Disk& disk = system_disk());

}  // namespace xorder::io
