// Makes pieces of untrusted text fit for a one-line message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xorder {

/// The number, from 1, of the UTF-8 character that begins at byte `offset`: what an editor would call its
/// column.
std::size_t character_number(std::string_view text, std::size_t offset);

/// The UTF-8 character at `offset` in quotes: 'x'. Control characters and bytes that are not UTF-8 appear as
/// hex.
std::string quoted_character(std::string_view text, std::size_t offset);

}  // namespace xorder
