// Arrays in files: what a file is, and what an output should be.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "xorder/io/npy.hpp"

namespace xorder::io {

/// What a user says of a raw file, which cannot say it itself.
struct RawLayout {
  std::optional<DType> dtype;
  /// Without it: one axis of all elements that the file holds.
  std::optional<std::vector<std::uint64_t>> extents;
  std::uint64_t offset = 0;
};

enum class Format { npy, raw };

/// "npy" or "raw".
const char* name(Format format);

/// An array that lies in a file: which file it was (path and stamp), and the description.
struct ArrayFile {
  std::filesystem::path path;
  FileStamp stamp;
  Format format = Format::raw;
  ArrayDescription description;
};

/// Finds out what the file holds: an .npy file by its first bytes, whatever its name; else a raw one, for
/// which `raw` must give a dtype. Throws InputError for files that cannot be an input (File::open_input),
/// damaged headers (read_npy_header), a raw layout given for an .npy file or missing for a raw one, a shape
/// that NumPy could not have (more than max_axes, or checked_bytes), and a size that is not offset + extents
/// × dtype (both numbers are given). Reads the header only.
ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw);

/// The format for an output of that name: .npy if its name ends so, raw for .raw, .bin and .dat, else the input's.
Format output_format(const std::filesystem::path& path, Format input);

}  // namespace xorder::io
