// .npy headers as bytes, without the files that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/format/npy.hpp"

namespace xorder::io {

/// This many bytes hold the magic string, the version and the length of the header, whatever the version.
inline constexpr std::size_t npy_preamble_bytes = 12;

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Where the elements begin, which is where the header ends. `head` is the file's first npy_preamble_bytes
/// bytes, or all of a shorter file. Throws InputError, beginning with `name`, for what cannot be a header,
/// including one that does not end within `file_bytes` or max_npy_header_bytes.
std::uint64_t npy_data_offset(std::string_view head, std::uint64_t file_bytes, const std::string& name);

/// Parses the header. `header` is everything in the file before the elements. Throws InputError as
/// read_npy_header does.
ArrayDescription parse_npy_header(std::string_view header, std::uint64_t file_bytes, const std::string& name);

}  // namespace xorder::io
