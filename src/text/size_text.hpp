// Formats numbers of bytes for people.
#pragma once

#include <cstdint>
#include <string>

namespace xorder {

/// "1.5 GiB", "64 KiB", "12 B": at most four digits, in the largest unit that gives at least 1.
std::string size_text(std::uint64_t bytes);
/// The same for fractions of a byte, such as rates.
std::string size_text(double bytes);

}  // namespace xorder
