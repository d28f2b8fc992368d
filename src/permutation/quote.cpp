#include "permutation/quote.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/utf8.hpp"

namespace xorder {

std::size_t character_number(std::string_view text, std::size_t offset) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const std::string_view before = text.substr(0, offset);
  return before.size() - static_cast<std::size_t>(std::ranges::count_if(before, continues)) + 1;
}

std::string quoted_character(std::string_view text, std::size_t offset) {
  const Utf8Character c = first_character(text.substr(offset));
  if (c.code && prints(*c.code)) return fmt::format("'{}'", c.bytes);
  return fmt::format("a byte {:#04x}", static_cast<unsigned char>(text[offset]));
}

}  // namespace xorder
