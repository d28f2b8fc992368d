// Tells spinning disks from others without writing anything.
#pragma once

#include <optional>

#include "io/disk.hpp"
#include "io/file.hpp"

namespace xorder::io {

/// Whether the kernel takes the file's disk for a spinning one. Most virtual disks are said to spin and do
/// not. False if the kernel does not know.
bool said_to_spin(const File& file);

/// The median time in seconds of 16 reads of a block each, at random places of the file, one after another,
/// past the page cache. Nothing if the file refuses direct access, a read fails, or the file has fewer than
/// 1024 blocks.
std::optional<double> seek_seconds(const File& file, Disk& disk = system_disk());

}  // namespace xorder::io
