// Arrays in files on a given disk. A run accesses all its files through the disk of its first input. So this
// is where traces, and the failing disks of tests, come in.
#pragma once

#include <filesystem>
#include <optional>

#include "io/disk.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

/// Does what open_array() of the public header does. The disk must outlive the result.
ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw, Disk& disk);

/// An input that is not described yet, as a raw file. Throws as File::open_input() does.
ArrayFile opened_file(const std::filesystem::path& path, Disk& disk);

/// The same array, opened again on another disk, without reading it. The disk must outlive the result.
ArrayFile on_disk(ArrayFile array, Disk& disk);

}  // namespace xorder::io
