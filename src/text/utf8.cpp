#include "text/utf8.hpp"

#include <cstddef>

namespace xorder {

Utf8Character first_character(std::string_view text) {
  static constexpr char32_t least[] = {0, 0x80, 0x800, 0x10000};
  const Utf8Character invalid{std::nullopt, text.substr(0, 1)};
  const auto first = static_cast<unsigned char>(text[0]);
  std::size_t more = 0;  // bytes that follow the first one
  if (first >= 0x80) {
    if (first < 0xC0 || first >= 0xF8) return invalid;
    more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (more >= text.size()) return invalid;
  }
  char32_t c = more == 0 ? first : first & (0x3Fu >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return invalid;
    c = c << 6 | (next & 0x3F);
  }
  if (c < least[more] || c > 0x10FFFF || is_surrogate(c)) return invalid;
  return {c, text.substr(0, more + 1)};
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

bool prints(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  const bool control = c < 0x20 || in(0x7F, 0xA0) || c == 0xAD;
  const bool layout = in(0x200B, 0x200F) || in(0x2028, 0x202E) || in(0x2060, 0x206F) || c == 0x61C ||
                      c == 0x180E || c == 0xFEFF || in(0xFFF9, 0xFFFB) || in(0xE0000, 0xE0FFF);
  const bool noncharacter = (c & 0xFFFE) == 0xFFFE || in(0xFDD0, 0xFDEF);
  return !control && !layout && !noncharacter && !is_surrogate(c);
}

}  // namespace xorder
