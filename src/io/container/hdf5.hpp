// HDF5 and NetCDF-4 files. libhdf5 reads their headers, in a process of its own with limits: the program
// xorder-hdf5 (tools/xorder-hdf5). What that prints is believed no more than a header.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/container/container.hpp"

namespace xorder::io {

/// The program: $XORDER_HDF5, or libexec/xorder-hdf5 in one of the two folders above that of this program or
/// of the library, if it has the same owner. Absent where there is none, or if $XORDER_HDF5 is empty.
std::optional<std::filesystem::path> hdf5_helper();

/// What the program prints when the file is its standard input. Requires that there is one. It has `seconds`,
/// which are also the limit of its processor's time. Throws InputError, one line without a path, if it cannot
/// be run, takes longer, prints more than a header may have, or is ended by a signal.
/// With a request it makes the header of a new file.
std::string run_hdf5_helper(int file, unsigned seconds, std::string request = {});

/// The datasets, and links to other files, as the program describes them. Throws InputError, one line without
/// a path, if the file is damaged or the program fails.
std::vector<ContainedArray> read_hdf5(const File& file, unsigned seconds = 60);

/// What the program printed of a file of this size. Throws InputError for what makes no sense.
std::vector<ContainedArray> hdf5_arrays(std::string_view printed, std::uint64_t file_bytes);

/// A dataset to be made.
struct Hdf5Dataset {
  std::string path;
  DType dtype;
  std::vector<std::uint64_t> extents;
  /// Axis i is axis axes[i] of the input as it lies in its file, or not known if -1 (or if there are none).
  std::vector<int> axes{};
};
struct Hdf5Header {
  std::string bytes;  ///< of the new file, up to its data, which are all that follows
  std::string note;   ///< what of the input could not be kept; or empty
};
/// The beginning of an HDF5 file with that dataset, of the same size every time. If the input is of an
/// HDF5 file, the dataset gets its attributes and, if the types agree, its type; dimension scales and labels
/// go with the axes. Takes a process of the program, which has a minute. Throws InputError, one line without
/// a path, without the program, for types that HDF5 does not have (U), and paths that no dataset can have.
Hdf5Header hdf5_header(const Hdf5Dataset& made, const ArrayFile& input);

/// What the program printed of a file that it made for an array of that size. Throws InputError for what
/// makes no sense.
Hdf5Header hdf5_made(std::string_view printed, std::uint64_t array_bytes);

}  // namespace xorder::io
