#include "text/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

#include "seed.hpp"

namespace xorder {
namespace {

std::string encoded(char32_t c) {
  const auto byte = [](char32_t b) { return static_cast<char>(static_cast<unsigned char>(b)); };
  const auto more = [&](int shift) { return byte(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), more(0)};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), more(6), more(0)};
  return {byte(0xF0 | c >> 18), more(12), more(6), more(0)};
}

TEST(Utf8, EveryCharacterIsDecoded) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    const std::string bytes = encoded(c), text = bytes + "x";
    const Utf8Character found = first_character(text);
    if (is_surrogate(c)) {
      ASSERT_FALSE(found.code) << std::hex << static_cast<std::uint32_t>(c);
    } else {
      ASSERT_EQ(found.code, c);
      ASSERT_EQ(found.bytes, bytes);
      for (std::size_t part = 1; part < bytes.size(); ++part) {  // cut off
        ASSERT_FALSE(first_character(std::string_view(bytes).substr(0, part)).code);
      }
    }
  }
}

// Whatever the bytes are: the parts make up the text, and those that are valid are the only form of their
// character.
TEST(Utf8, AnyBytes) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 200'000; ++i) {
    std::string text(random.in(std::size_t{1}, std::size_t{6}), '\0');
    for (char& c : text) c = static_cast<char>(random.in(0x70u, 0xFFu));
    for (std::string_view rest = text; !rest.empty();) {
      const Utf8Character found = first_character(rest);
      ASSERT_TRUE(rest.starts_with(found.bytes));
      ASSERT_TRUE(found.code ? encoded(*found.code) == found.bytes : found.bytes.size() == 1);
      rest.remove_prefix(found.bytes.size());
    }
  }
}

TEST(Utf8, WhatCannotBeShown) {
  for (const char32_t c :
       {U'\0', U'\n', U'\x1b', U'\x7f', U'\x85', U'\xa0', U'\xad', U'\u200b', U'\u202e', U'\u2028', U'\u2066',
        U'\ufeff', U'\u061c', U'\u2060', U'\ufff9', U'\ufdd0', U'\U0001FFFE', U'\U000E0041'}) {
    EXPECT_FALSE(prints(c)) << std::hex << static_cast<std::uint32_t>(c);
  }
  for (const char32_t c : {U' ', U'~', U'é', U'⊕', U'☃', U'\U0001F600'}) EXPECT_TRUE(prints(c));
}

TEST(Utf8, AByteOrderMarkIsLeftOutOnce) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFx"), "x");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBF\xEF\xBB\xBF"), "\xEF\xBB\xBF");
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB"), "\xEF\xBB");
  EXPECT_EQ(without_byte_order_mark(""), "");
}

}  // namespace
}  // namespace xorder
