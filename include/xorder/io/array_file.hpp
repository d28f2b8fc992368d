// Arrays in files: what a file holds, and the format of an output.
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
#include "xorder/permutation/element_piece.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::io {

class File;

/// Identifies a file and the version of its content. Nobody can set the ctime; chmod, link and rename change
/// it, too.
struct FileStamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_seconds = 0, mtime_nanoseconds = 0;
  std::int64_t ctime_seconds = 0, ctime_nanoseconds = 0;
  bool operator==(const FileStamp&) const = default;
};

/// An array in a file: a place, a type, a shape and strides, as in NumPy. Every way to look at a part of a
/// file (array_view.hpp) makes another such description.
struct ArrayDescription {
  DType dtype;
  std::vector<std::uint64_t> extents;
  /// Bytes from one element to the next along each axis; negative ones go backwards.
  std::vector<std::int64_t> strides;
  /// Where the element with all indices 0 begins in the file, in bytes.
  std::uint64_t offset = 0;
  /// What of a stored element makes an element of `dtype`, one piece after the other. Empty: all of it.
  std::vector<ElementPiece> pieces{};

  /// Without gaps, from `offset` on.
  static ArrayDescription contiguous(DType dtype, std::vector<std::uint64_t> extents, Order order,
                                     std::uint64_t offset);

  /// Whether the elements follow each other in this order, from `offset` on. Both are true if at most one
  /// axis is longer than 1.
  bool is_contiguous(Order order) const;
  /// The order in which they follow each other. Where both are right the strides of short axes decide, which
  /// keeps what an .npy header says, except for arrays of one axis or one element: c. c if neither is right.
  Order order() const;
  /// The axes as they lie in the file, slowest first.
  std::vector<int> axes_in_file() const { return xorder::axes_in_file({extents, 1, Order::c, strides}); }
  /// The shape; with strides only if the array is contiguous in neither order.
  ArrayShape shape() const;
  std::uint64_t elements() const {
    return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
  }
  std::uint64_t bytes() const { return elements() * dtype.bytes; }
  /// Bytes of an element as it is stored, up to the last one that is wanted.
  std::uint64_t stored_bytes() const;
  /// The part of the file from the first to the last byte of the array; both are `offset` if it is empty.
  std::uint64_t begin() const;
  std::uint64_t end() const;
};

/// Throws InputError, one line beginning with `name`, unless all elements lie in a file of this size, no two
/// of them overlap, and axes are nested: one step along an axis passes by all that the axes with shorter
/// steps reach.
void check_layout(const ArrayDescription& array, std::uint64_t file_bytes, const std::string& name);

/// What a user says about a raw file, which has no header.
struct RawLayout {
  std::optional<DType> dtype;
  /// If absent: one axis with all elements of the file.
  std::optional<std::vector<std::uint64_t>> extents;
  std::uint64_t offset = 0;
  /// The axis whose extent follows from the file's size, like a -1 of numpy.reshape; `extents` has any number
  /// there. Requires an axis of `extents`.
  std::optional<std::size_t> inferred_axis{};
  /// How the axes lie in the file, if there are no strides.
  Order order = Order::c;
  /// As in ArrayDescription. Requires as many extents, none of them inferred.
  std::vector<std::int64_t> strides{};
  /// Whether the file may go on behind the array.
  bool ignore_rest = false;
};

enum class Format { npy, raw, fits, netcdf, nifti, envi, hdf5 };

/// "npy", "raw", "fits", "netcdf", "nifti", "envi" or "hdf5".
const char* name(Format format);

/// An array in a file: the path, the open file, its stamp, and the description of the array.
struct ArrayFile {
  std::filesystem::path path;
  /// Held open, so that it stays the same file even if the path later leads to another.
  std::shared_ptr<const File> file;
  FileStamp stamp;
  Format format = Format::raw;
  ArrayDescription description;
  /// Bytes of the file behind the whole array, which nobody reads. An .npy file may have some, and so may a
  /// raw one with RawLayout::ignore_rest or, as the padding of its last row, with strides.
  std::uint64_t rest = 0;
  /// The file that has the header, if that is another one: of an ENVI raster, or a pair of NIfTI files.
  std::shared_ptr<const File> header{};
  FileStamp header_stamp{};
  /// The array's name in a file of several, without aliases; or empty.
  std::string member{};
  /// The axes' names, in the order of the extents, if the file has some: ENVI, NetCDF and HDF5.
  std::vector<std::string> axis_names{};
  /// What the header says of the numbers that their type does not, such as a scale; or empty.
  std::string note{};
};

/// A raw file without a dtype, or a layout for a file that has its own.
class LayoutError : public InputError {
 public:
  using InputError::InputError;
};

/// A raw file that is longer than what is said of it.
class RestError : public InputError {
 public:
  using InputError::InputError;
};

/// Finds out what the file holds. It is an .npy file if its first bytes say so, whatever its name. Otherwise
/// it is raw if `raw` gives a dtype. Without one it may be a FITS, NetCDF, HDF5, NIfTI or ENVI file, by its
/// first bytes or by those of a header (.hdr) beside it. `path` may be FILE:NAME then, for one of the file's
/// arrays: a FITS HDU by its number or EXTNAME, a NetCDF variable, or an HDF5 dataset. A path that exists is
/// taken as it stands; otherwise FILE is the longest part that is a regular file. NAME may be left out where
/// only one array can be read. Reads headers only; those of HDF5 and NetCDF-4 in a process of the program
/// xorder-hdf5, which runs for a minute at most, and without which they are not read. Throws LayoutError if a
/// raw layout is given for a file that has its own, or no dtype for any other file. If that begins as a file
/// of a known format does (zip and .npz, gzip, TIFF, Parquet, MATLAB, ..), the message says so and shows a
/// way to its arrays; where no RawLayout can describe them, it is another InputError. Throws other
/// InputErrors for names of no array, which list those that there are, for arrays that are compressed or in
/// chunks, for files that cannot be an input (missing, unreadable, no regular file), headers that NumPy does
/// not read, types with Python objects, shapes that NumPy could not have (more than 64 axes, NumPy 2's limit,
/// or too large, see checked_bytes()), an .npy file that ends before its array does, and a raw file whose
/// size is not offset + extents × dtype, for any extent of an inferred axis (the messages have both numbers),
/// or, if there are strides, that goes on behind the array for as long as the longest step or longer. An .npy
/// file may go on behind its array, as for numpy.load, and so may a raw one with RawLayout::ignore_rest
/// (ArrayFile::rest). Throws InputError for strides as check_layout() does.
ArrayFile open_array(const std::filesystem::path& path, const std::optional<RawLayout>& raw = {});

/// A raw file, whatever its first bytes are. Throws InputError as open_array() does.
ArrayFile open_raw_array(const std::filesystem::path& path, const RawLayout& raw);

/// The format for an output of that name: npy for the extension .npy; raw for .raw, .bin and .dat; hdf5 for
/// .h5, .hdf5, .he5 and .nc4. With any other extension that means nothing it is raw for a raw or ENVI input,
/// and npy for all others; without one, raw for a raw input only. Case does not matter. An extension of
/// another format than npy is raw if the caller writes a header of its own in front of the data; otherwise
/// InputError is thrown for formats that are not written, such as .npz or .tif.
Format output_format(const std::filesystem::path& path, Format input, bool own_header = false);

}  // namespace xorder::io
