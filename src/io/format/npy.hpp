// NumPy's .npy format, versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

/// NumPy 2's limit; it was 32 before.
inline constexpr std::size_t max_axes = 64;
/// Throws InputError, which begins with `before`, if there are more.
void check_rank(std::size_t axes, const std::string& before = {});

/// Whether the file begins with the magic string of the format.
bool is_npy(const File& file);

/// Larger headers are refused. This includes the magic string.
inline constexpr std::uint64_t max_npy_header_bytes = std::uint64_t{1} << 20;

/// Reads the header, and nothing of the data, through the plain descriptor. It is parsed, never evaluated.
/// The description's descr is the type as NumPy would write it. Extents may be zero, and there may be no axes
/// at all (a single element). elements × bytes is below 2^63, even if zero extents are left out. Throws
/// InputError, one line "NAME: what is wrong; what would be right", in which bytes of the header are escaped
/// and cut short. The reasons are: a bad magic string or version; a header that is truncated, beyond
/// max_npy_header_bytes, not a dictionary with exactly the keys descr, fortran_order and shape, or holds
/// anything but literals; Python objects (O) in the type, or a type whose size is unknown; negative or
/// overlarge extents, or more than 64; a file of less than offset + elements × bytes (the message has both
/// numbers). Throws IoError if reading fails.
ArrayDescription read_npy_header(const File& file);

/// A header for a contiguous array as NumPy writes it, but padded to a multiple of 4096 bytes so that the
/// data starts at a page. There are two exceptions, which are padded to a multiple of 64 as NumPy's own are.
/// One is headers of 8,193 to 9,984 bytes (structured types of several hundred fields): NumPy by default
/// refuses headers of more than 10,000 characters. The other is arrays without elements: NumPy cannot map a
/// file that ends at a page's end. A `compact` header always is as NumPy's. The format version is 1 where the
/// header fits, 2 for long headers, 3 where the description is not ASCII. Throws InputError if the header
/// would exceed max_npy_header_bytes.
std::string npy_header(const DType& dtype, const std::vector<std::uint64_t>& extents, Order order = Order::c,
                       bool compact = false);

/// The same, in so many bytes. Throws InputError if they are too few.
std::string npy_header_of(std::uint64_t bytes, const DType& dtype, const std::vector<std::uint64_t>& extents,
                          Order order);

}  // namespace xorder::io
