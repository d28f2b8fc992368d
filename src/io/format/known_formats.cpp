#include "io/format/known_formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/format/npy_header.hpp"

namespace xorder::io {
namespace {

using namespace std::string_view_literals;

// HDF5 allows a block of 512 bytes or more in front. Version 1 of NIfTI is told by the end of its header.
constexpr KnownFormat known_formats[] = {
    {.name = "an .npy file",
     .suffixes = {".npy"},
     .signatures = {{0, npy_magic}},
     .read_as = Format::npy,
     .written_as = Format::npy},
    {.name = "a raw file",
     .suffixes = {".raw", ".bin", ".dat"},
     .read_as = Format::raw,
     .written_as = Format::raw},
    {.name = "a zip archive, as .npz files are",
     .suffixes = {".npz", ".zip"},
     .signatures = {{0, "PK\x03\x04"}, {0, "PK\x05\x06"}},
     .advice = "unzip it and use the .npy files in it"},
    {.name = "a gzip file",
     .suffixes = {".gz", ".tgz"},
     .signatures = {{0, "\x1f\x8b\x08"}},
     .advice = "decompress it: gunzip -k"},
    {.name = "a bzip2 file",
     .suffixes = {".bz2"},
     .signatures = {{0, "BZh"}},
     .advice = "decompress it: bunzip2 -k"},
    {.name = "an xz file",
     .suffixes = {".xz"},
     .signatures = {{0, "\xfd\x37zXZ\0"sv}},
     .advice = "decompress it: unxz -k"},
    {.name = "a Zstandard file",
     .suffixes = {".zst"},
     .signatures = {{0, "\x28\xb5\x2f\xfd"}},
     .advice = "decompress it: unzstd"},
    {.name = "an HDF5 file",
     .suffixes = {".h5", ".hdf5", ".hdf", ".he5", ".nc4"},
     .signatures = {{0, "\x89HDF\r\n\x1a\n"},
                    {512, "\x89HDF\r\n\x1a\n"},
                    {1024, "\x89HDF\r\n\x1a\n"},
                    {2048, "\x89HDF\r\n\x1a\n"}},
     .read_as = Format::hdf5,
     .written_as = Format::hdf5,
     .advice = "it is read by xorder-hdf5, which is not here (it is built where libhdf5-dev is installed); "
               "h5dump -d DATASET -b NATIVE -o OUT.raw makes a raw file of a dataset",
     .plain = true},
    {.name = "a NetCDF file",
     .suffixes = {".nc", ".cdf"},
     .signatures = {{0, "CDF\x01"}, {0, "CDF\x02"}, {0, "CDF\x05"}},
     .read_as = Format::netcdf},
    {.name = "a FITS file",
     .suffixes = {".fits", ".fit", ".fts"},
     .signatures = {{0, "SIMPLE  ="}},
     .read_as = Format::fits},
    {.name = "a TIFF file",
     .suffixes = {".tif", ".tiff"},
     .signatures = {{0, "II*\0"sv}, {0, "MM\0*"sv}, {0, "II+\0"sv}, {0, "MM\0+"sv}},
     .advice = "in Python: numpy.save(OUT, tifffile.imread(IN))",
     .plain = true},
    {.name = "a Parquet file",
     .suffixes = {".parquet"},
     .signatures = {{0, "PAR1"}},
     .advice = "in Python: numpy.save(OUT, pyarrow.parquet.read_table(IN)[COLUMN].to_numpy())"},
    {.name = "a MATLAB file",
     .suffixes = {".mat"},
     .signatures = {{0, "MATLAB 5.0 MAT-file"}},
     .advice = "in Python: numpy.save(OUT, scipy.io.loadmat(IN)[NAME])"},
    {.name = "a NIfTI file",
     .suffixes = {".nii"},
     .signatures = {{344, "n+1\0"sv}, {344, "ni1\0"sv}, {4, "n+2\0\r\n\x1a\n"sv}, {4, "ni2\0\r\n\x1a\n"sv}},
     .read_as = Format::nifti},
    {.name = "an ENVI header",
     .suffixes = {".hdr"},
     .signatures = {{0, "ENVI\n"}, {0, "ENVI\r"}, {0, "ENVI "}},
     .read_as = Format::envi},
    {.name = "a Zarr store", .suffixes = {".zarr"}},
};

constexpr std::uint64_t longest_head = 2048 + 8;

}  // namespace

const KnownFormat* format_of_content(const File& file) {
  const std::string begin = first_bytes(file, longest_head);
  const auto* const found = std::ranges::find_if(known_formats, [&](const KnownFormat& format) {
    return std::ranges::any_of(format.signatures, [&](const KnownFormat::Signature& signature) {
      return !signature.bytes.empty() && signature.at < begin.size() &&
             std::string_view(begin).substr(signature.at).starts_with(signature.bytes);
    });
  });
  return found == std::end(known_formats) ? nullptr : found;
}

const KnownFormat* format_of_name(const std::filesystem::path& path) {
  const std::string suffix = in_small_letters(path.extension().string());
  const auto* const found = std::ranges::find_if(known_formats, [&](const KnownFormat& format) {
    return !suffix.empty() && std::ranges::find(format.suffixes, suffix) != std::end(format.suffixes);
  });
  return found == std::end(known_formats) ? nullptr : found;
}

std::string in_small_letters(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string written_suffixes() {
  std::string list;
  for (const KnownFormat& format : known_formats) {
    for (const std::string_view suffix : format.suffixes) {
      if (format.written_as && !suffix.empty()) list += fmt::format("{}{}", list.empty() ? "" : ", ", suffix);
    }
  }
  return list;
}

std::string first_bytes(const File& file, std::uint64_t bytes) {
  std::string text(static_cast<std::size_t>(std::min(bytes, file.size())), '\0');
  if (!text.empty()) file.read_exactly(text.data(), text.size(), 0);
  return text;
}

}  // namespace xorder::io
