#include "permutation/quote.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace xorder {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length in bytes of a UTF-8 character with this first byte; 0 if no character begins with it.
std::size_t utf8_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

}  // namespace

std::size_t character_number(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return before.size() - static_cast<std::size_t>(std::ranges::count_if(before, continues)) + 1;
}

std::string quoted_character(std::string_view text, std::size_t offset) {
  const auto first = static_cast<unsigned char>(text[offset]);
  const std::size_t length = utf8_length(first);
  const std::string_view character = text.substr(offset, std::max<std::size_t>(length, 1));
  const bool whole =
      length > 0 && character.size() == length && std::ranges::all_of(character.substr(1), continues);
  const bool control =
      first < 0x20 || first == 0x7F ||
      (first == 0xC2 && character.size() > 1 && static_cast<unsigned char>(character[1]) < 0xA0);
  if (!whole || control) return fmt::format("a byte {:#04x}", first);
  return fmt::format("'{}'", character);
}

}  // namespace xorder
