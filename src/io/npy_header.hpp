// .npy headers as bytes, apart from the files that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/npy.hpp"

namespace xorder::io {

/// Where the length of the header can be read for certain: magic string, version, length of the header.
inline constexpr std::size_t npy_preamble_bytes = 12;

bool has_npy_magic(std::string_view head);

/// Where the elements begin, which is where the header ends. `head` is the file's first npy_preamble_bytes
/// bytes, or all of a shorter file. Throws InputError that begins with `name` for what cannot be a header,
/// among them one that does not end within `file_bytes` or max_npy_header_bytes.
std::uint64_t npy_data_offset(std::string_view head, std::uint64_t file_bytes, const std::string& name);

/// What the header says. `header` is all of the file before the elements. Throws InputError as
/// read_npy_header does.
ArrayDescription parse_npy_header(std::string_view header, std::uint64_t file_bytes, const std::string& name);

}  // namespace xorder::io
