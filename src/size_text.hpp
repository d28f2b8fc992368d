// How amounts of bytes are said to people, everywhere.
#pragma once

#include <cstdint>
#include <string>

namespace xorder {

/// "1.5 GiB", "64 KiB", "12 B": four digits at most, in the largest unit of which there is at least one.
std::string size_text(std::uint64_t bytes);
/// The same of a fraction of a byte: rates are such.
std::string size_text(double bytes);

}  // namespace xorder
