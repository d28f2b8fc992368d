// What users write on the command line, read strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xorder::cli {

/// "2GiB", "512mib", "1.5G", "64M", "100000": K, M, G, T, P and E are powers of 1024 with or without iB,
/// powers of 1000 with B, in capital or small letters; only numbers with a unit have fractions. Below 2^63.
/// Throws InputError naming `what` for anything else. An amount of memory: more than 0; the fraction of a
/// byte that 0.1GiB has is left out.
std::uint64_t parse_memory(std::string_view text, const std::string& what);
/// A place in a file: 0 is one, and a fraction of a byte is not.
std::uint64_t parse_offset(std::string_view text, const std::string& what);

// Numbers are decimal whatever they begin with: 010 is ten.

/// "3", "-1". Throws InputError naming `what`.
int parse_int(std::string_view text, const std::string& what);

/// Of the bits of an index that name a processor, the lowest: "minor" is 0, "3" is 3, and "major" or nothing
/// means the top ones. Throws InputError naming `what`.
std::optional<int> parse_layout(std::string_view text, const std::string& what);

/// "0", "16". Throws InputError naming `what`.
std::uint64_t parse_number(std::string_view text, const std::string& what);

/// "16": a number of things, at least one, below 2^63. Throws InputError naming `what`.
std::uint64_t parse_count(std::string_view text, const std::string& what);

/// "2,0,1" with optional blanks or parentheses. Throws InputError naming `what`.
std::vector<int> parse_ints(std::string_view text, const std::string& what);
/// The same of extents; "()" has none: the shape of an array with one element and no axes.
std::vector<std::uint64_t> parse_extents(std::string_view text, const std::string& what);

}  // namespace xorder::cli
