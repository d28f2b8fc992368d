// Files that hold named arrays behind headers: FITS, NetCDF, HDF5, NIfTI and ENVI. A parser for each of them
// says where the arrays lie.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/container/header_bytes.hpp"
#include "io/disk.hpp"
#include "io/format/known_formats.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

struct ContainedArray {
  std::string name;                    ///< as in FILE:NAME; a / in front may be left out there
  std::vector<std::string> aliases{};  ///< other names, which other arrays may have too
  /// As in an ArrayDescription. There is no type for what is no array of NumPy's, such as a table.
  std::optional<DType> dtype{};
  std::vector<std::uint64_t> extents{};
  Order order = Order::c;
  std::uint64_t offset = 0;
  /// Bytes from one index of axis 0 to the next, where other data lie between; or 0.
  std::uint64_t pitch = 0;
  const char* storage = "contiguous";  ///< or "strided", "compressed", "table", "none" ..
  std::string refusal{};               ///< why it cannot be read; or empty
  std::vector<std::string> axis_names{};
  std::string note{};  ///< as in ArrayFile

  /// Requires that it can be read.
  ArrayDescription description() const;
};

/// The arrays that the headers tell of, in the order of the file, and those that cannot be read with the
/// reason. Time and memory are linear in the bytes of the headers, which max_header_bytes bounds. Throws
/// InputError, one line without a path, for headers that are truncated or make no sense, and IoError if
/// reading fails.
std::vector<ContainedArray> read_fits(HeaderBytes& file);
std::vector<ContainedArray> read_netcdf(HeaderBytes& file);
/// The array of a NIfTI file. Its elements lie in the same file, of which `data_bytes` is the size too, or in
/// another one of a pair.
std::vector<ContainedArray> read_nifti(HeaderBytes& header, std::uint64_t data_bytes);
std::vector<ContainedArray> read_envi(HeaderBytes& header, std::uint64_t data_bytes);

/// Whether this is the header of a pair of NIfTI files.
bool is_nifti_pair(HeaderBytes& header);

/// Notes as its refusal if the array, which has a type, has more axes or bytes than NumPy's arrays, or does
/// not end within `file_bytes`.
void check_inside(ContainedArray& array, std::uint64_t file_bytes);

/// What an opened file of the format `known` holds, or of the format that a header beside it has, if `known`
/// is null. The format, the header, and the file with the data are put into `array`; nothing is described.
/// Absent if the file is not a container. Throws as open_array() does.
std::optional<std::vector<ContainedArray>> read_container(ArrayFile& array, const KnownFormat* known);

/// The header that a file of this name, which need not exist, would be read by; absent if there is none.
std::optional<std::filesystem::path> header_beside(const std::filesystem::path& path, Disk& disk);

/// The array of that name, or the only one that can be read. Throws InputError, which lists the names, if
/// there is none.
const ContainedArray& chosen_array(const std::vector<ContainedArray>& arrays,
                                   const std::optional<std::string>& name, const std::string& path);

struct Contents {
  Format format = Format::raw;
  std::vector<ContainedArray> arrays;
};
/// What a container holds; absent if the path is none, or names an array in one. Throws as open_array() does.
std::optional<Contents> contents(const std::filesystem::path& path);

/// What a user names as IN: a file, or an array in a file.
struct FileAndName {
  std::filesystem::path file;
  std::optional<std::string> name{};
};
/// Takes FILE:NAME apart: the longest FILE that is a regular file. A path that exists is a file as it stands,
/// and so is one no part of which does.
FileAndName file_and_name(const std::filesystem::path& given);

/// The same for an OUT: a path that exists, or no part of which has the suffix of a container that is
/// written, is a file as it stands. Otherwise FILE is the shortest part that has.
FileAndName output_file_and_name(const std::filesystem::path& given);

}  // namespace xorder::io
