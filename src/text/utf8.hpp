// UTF-8, for texts that users and files bring.
#pragma once

#include <optional>
#include <string_view>

namespace xorder {

/// Not a character, but a half of one in UTF-16.
constexpr bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

struct Utf8Character {
  std::optional<char32_t> code;  ///< absent: the byte is not a part of valid UTF-8
  std::string_view bytes;
};
/// The character at the head of a text, which must not be empty. Overlong forms and surrogates are invalid.
Utf8Character first_character(std::string_view text);

/// The text without a byte order mark at its head: some editors begin every file with one.
std::string_view without_byte_order_mark(std::string_view text);

/// Whether a character can be shown. Control, bidirectional and invisible ones cannot: a name or a header
/// could forge messages with them.
bool prints(char32_t c);

}  // namespace xorder
