// The file formats that have a name here: those that are read or written, and others in which people keep
// arrays. One table decides what a file is, what an output may be, and what is said of all else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/file.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

struct KnownFormat {
  std::string_view name;         ///< with its article: "an HDF5 file"
  std::string_view suffixes[5];  ///< in small letters; empty ones are not used, here and below
  /// What a file has at byte `at`: each is enough.
  struct Signature {
    std::uint64_t at = 0;
    std::string_view bytes;
  } signatures[4] = {};
  std::optional<Format> read_as{}, written_as{};
  std::string_view advice{};  ///< the way to the arrays in a file that is not read, or not by this build
  bool plain = false;         ///< a RawLayout can describe an array in such a file
};

/// The format that the file's first bytes tell, or null. Reads some 2 KiB.
const KnownFormat* format_of_content(const File& file);

/// The format that the name's suffix means, whatever its case; or null.
const KnownFormat* format_of_name(const std::filesystem::path& path);

/// Of ASCII only.
std::string in_small_letters(std::string text);

/// The suffixes of all formats that are written: ".npy, .raw, .bin, .dat".
std::string written_suffixes();

/// The first bytes of a file, as many as it has.
std::string first_bytes(const File& file, std::uint64_t bytes);

}  // namespace xorder::io
