// NumPy's .npy format, versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

/// Of NumPy 2; it was 32 before.
inline constexpr std::size_t max_axes = 64;

/// Whether the file begins with the magic string of the format.
bool is_npy(const File& file);

/// Headers end within this many bytes, magic string included, or are refused.
inline constexpr std::uint64_t max_npy_header_bytes = std::uint64_t{1} << 20;

/// Reads the header, all of it but not more (nothing of the data), through the plain descriptor. It is
/// parsed, never evaluated. The description's descr is the type as NumPy would write it. An extent may be
/// zero, and there may be none at all (a single element); elements × bytes is below 2^63, also without the
/// extents that are zero. Throws InputError, one line "NAME: what is wrong; what would be right" in which
/// bytes of the header are escaped and cut short: a bad magic string or version; a header that is truncated,
/// beyond max_npy_header_bytes, not a dictionary with exactly the keys descr, fortran_order and shape, or
/// holds anything but literals; Python objects (O) in the type, or a type that NumPy does not write; negative
/// or overlarge extents, or more than 64; a file whose size is not offset + elements × bytes (both numbers
/// are given). Throws IoError if reading fails.
ArrayDescription read_npy_header(const File& file);

/// A header for a C-ordered array, written as NumPy does, and padded to a multiple of 4096 bytes so that the
/// data starts at a page. One exception: NumPy refuses headers of more than 10,000 characters unless it is
/// told otherwise, so those of 8,193 to 9,984 bytes (structured types of several hundred fields) are padded
/// to a multiple of 64 only, as NumPy's own, and stay readable. Version 1 where it fits, 2 for long ones, 3
/// where the description is not ASCII. Throws InputError if it would exceed max_npy_header_bytes.
std::string npy_header(const DType& dtype, const std::vector<std::uint64_t>& extents);

}  // namespace xorder::io
