// Strict parsing of values on the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xorder/io/array_view.hpp"

namespace xorder::cli {

/// An amount of memory: "2GiB", "512mib", "1.5G", "64M", "100000". K, M, G, T, P and E are powers of 1024
/// with or without iB, and powers of 1000 with B, in capital or small letters. Only numbers with a unit may
/// have fractions; a fraction of a byte, as in 0.1GiB, is dropped. Throws InputError naming `what` for
/// anything else, and unless the result is above 0 and below 2^63.
std::uint64_t parse_memory(std::string_view text, const std::string& what);
/// A place in a file, in the same format. 0 is valid; a fraction of a byte is not.
std::uint64_t parse_offset(std::string_view text, const std::string& what);

// Numbers are always decimal: 010 is ten.

/// "3", "-1". Throws InputError naming `what`.
int parse_int(std::string_view text, const std::string& what);

/// The lowest of the index bits that name a processor: "minor" is 0, "3" is 3; "major" or an empty text means
/// the top bits. Throws InputError naming `what`.
std::optional<int> parse_layout(std::string_view text, const std::string& what);

/// "0", "16". Throws InputError naming `what`.
std::uint64_t parse_number(std::string_view text, const std::string& what);

/// "16": a count, from 1 to 2^63 - 1. Throws InputError naming `what`.
std::uint64_t parse_count(std::string_view text, const std::string& what);

/// "16": threads, from 1 to task::max_threads. Throws InputError naming `what`.
unsigned parse_threads(const std::string& text, const std::string& what);

/// "2,0,1" with optional blanks or parentheses. Throws InputError naming `what`.
std::vector<int> parse_ints(std::string_view text, const std::string& what);
/// The same of words.
std::vector<std::string> parse_words(std::string_view text, const std::string& what);

/// The shape of a raw file. One extent may follow from the file's size.
struct RawShape {
  std::vector<std::uint64_t> extents;
  std::optional<std::size_t> inferred_axis;
};
/// "12,7", "12x7", "12,-1", "(12, 7)". "()" has no axes: an array with one element. Throws InputError naming
/// `what`.
RawShape parse_shape(std::string_view text, const std::string& what);

/// "C" or "F". Throws InputError naming `what`.
Order parse_order(std::string_view text, const std::string& what);

/// "8000,-8": one for each axis. Throws InputError naming `what`.
std::vector<std::int64_t> parse_strides(std::string_view text, const std::string& what);

/// NumPy's basic indexing without None, as between brackets: "10:200, ::-1, 3, ...". Throws InputError naming
/// `what`.
std::vector<io::Index> parse_indices(std::string_view text, const std::string& what);

/// Words for which a command has no place: what to say if one of them is a number, such as the 7 of
/// --shape 12 7.
std::optional<std::string> complaint_of_number(std::span<const std::string> words);

}  // namespace xorder::cli
