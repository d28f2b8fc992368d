// Numbers in headers.
#pragma once

#include <cstdint>
#include <string_view>

namespace xorder::io {

/// The unsigned number that these bytes are, at most eight.
inline std::uint64_t number_of(std::string_view bytes, bool little_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[little_endian ? bytes.size() - 1 - i : i]);
  return value;
}

}  // namespace xorder::io
