#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace xorder {

/// Columns of a UTF-8 text on a terminal. Every character is taken to be one column wide.
inline std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace xorder
