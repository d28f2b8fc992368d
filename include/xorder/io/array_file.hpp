// Arrays in files: what a file is, and what an output should be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "xorder/error.hpp"
#include "xorder/io/dtype.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::io {

class Disk;
class File;

/// What identifies a file and its content's version.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_seconds = 0, mtime_nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

/// A description of an array that lies contiguously in a file.
struct ArrayDescription {
  DType dtype;
  std::vector<std::uint64_t> extents;
  Order order = Order::c;
  /// Where the elements begin in the file, in bytes.
  std::uint64_t offset = 0;

  ArrayShape shape() const { return {extents, dtype.bytes, order}; }
  std::uint64_t elements() const {
    return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
  }
};

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

/// An array that lies in a file: which file (by its path, its stamp, and itself, held open), and the
/// description.
struct ArrayFile {
  std::filesystem::path path;
  /// Whatever stands under the path later, this file is meant.
  std::shared_ptr<const File> file;
  FileStamp stamp;
  Format format = Format::raw;
  ArrayDescription description;
};

/// A raw file without a dtype, or a layout for a file that has its own.
class LayoutError : public InputError {
 public:
  using InputError::InputError;
};

/// Finds out what the file holds: an .npy file by its first bytes, whatever its name; else a raw one, for
/// which `raw` must give a dtype. Throws LayoutError for a raw layout given for an .npy file or missing for a
/// raw one, other InputErrors for files that cannot be an input (File::open_input), damaged headers
/// (read_npy_header), a shape that NumPy could not have (more than max_axes, or checked_bytes), and a size
/// that is not offset + extents × dtype (both numbers are given). Reads the header only.
ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw);
/// The same on another disk than the operating system's.
ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw, Disk& disk);

/// A raw file, whatever its first bytes are. Throws InputError as open_array() does.
ArrayFile open_raw_array(const std::filesystem::path& path, const RawLayout& raw);

/// The format for an output of that name: .npy if its name ends so, raw for .raw, .bin and .dat, in small or
/// capital letters; else the input's.
Format output_format(const std::filesystem::path& path, Format input);

}  // namespace xorder::io
