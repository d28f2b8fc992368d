#include "io/format/python_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "text/utf8.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using Kind = Literal::Kind;

// NumPy nests two levels for each structured type inside another one. Nobody nests fifty types.
constexpr int max_depth = 100;
constexpr std::size_t excerpt_length = 40;
constexpr char32_t end_of_text = 0xffffffff;

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_space(char32_t c) { return c == U' ' || c == U'\t' || c == U'\n' || c == U'\r' || c == U'\f'; }
bool is_word(char32_t c) {
  return is_digit(c) || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || c == U'_' ||
         (c > 0x7f && c != end_of_text);
}

std::optional<unsigned> hex_digit(char32_t c) {
  if (is_digit(c)) return static_cast<unsigned>(c - U'0');
  if (c >= U'a' && c <= U'f') return static_cast<unsigned>(c - U'a' + 10);
  if (c >= U'A' && c <= U'F') return static_cast<unsigned>(c - U'A' + 10);
  return {};
}

Literal make(Kind kind) {
  Literal literal;
  literal.kind = kind;
  return literal;
}

// A recursive descent parser. Each function starts at the first character of what it reads and stops after
// its last one.
class Parser {
 public:
  explicit Parser(std::u32string_view text) : text_(text) {}

  Literal whole() {
    skip_space();
    Literal literal = value(0);
    skip_space();
    if (at_ < text_.size()) fail("nothing more after the literal");
    return literal;
  }

 private:
  char32_t peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : end_of_text;
  }
  // White space and comments. Python takes no null bytes even in those.
  void skip_space() {
    static constexpr std::u32string_view end_of_comment{U"\r\n\0", 3};
    while (is_space(peek()) || peek() == U'#') {
      if (text_[at_++] == U'#') at_ = std::min(text_.find_first_of(end_of_comment, at_), text_.size());
    }
  }
  bool take(char32_t c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found = at_ < text_.size() ? excerpt(text_.substr(at_)) : "the end";
    throw InputError(fmt::format("{} at character {} where there should be {}", found, at_, expected));
  }

  Literal value(int depth) {
    if (depth > max_depth) throw InputError(fmt::format("nested more than {} deep", max_depth));
    const char32_t c = peek();
    if (c == U'\'' || c == U'"') return string();
    if (c == U'(' || c == U'[') return sequence(depth);
    if (c == U'{') return dictionary(depth);
    if (is_digit(c) || c == U'-' || c == U'+') return integer();
    return word();
  }

  Literal word() {
    const bool prefixed = peek() == U'u' && (peek(1) == U'\'' || peek(1) == U'"');
    if (prefixed) {  // Python 2's unicode strings
      ++at_;
      return string();
    }
    std::size_t length = 0;
    while (is_word(peek(length))) ++length;
    const std::u32string_view word = text_.substr(at_, length);
    Literal literal;
    if (word == U"True" || word == U"False") {
      literal.kind = Kind::boolean;
      literal.truth = word == U"True";
    } else if (word != U"None") {
      fail("a literal (a string, integer, tuple, list, dictionary, True, False or None)");
    }
    at_ += length;
    return literal;
  }

  // Digits, with single underscores between them.
  std::u32string digits(unsigned base) {
    std::u32string digits;
    do {
      const std::size_t begin = at_;
      while (hex_digit(peek()).value_or(base) < base) ++at_;
      if (at_ == begin) fail("a digit");
      digits += text_.substr(begin, at_ - begin);
    } while (take(U'_'));
    return digits;
  }

  std::u32string decimal_of(std::u32string_view digits, unsigned base) const {
    std::uint64_t value = 0;
    for (const char32_t digit : digits) {
      if (__builtin_mul_overflow(value, base, &value) ||
          __builtin_add_overflow(value, *hex_digit(digit), &value))
        fail("an integer below 2^64");
    }
    return from_latin1(std::to_string(value));
  }

  Literal integer() {
    Literal literal = make(Kind::integer);
    const bool negative = take(U'-');
    if (!negative) take(U'+');
    skip_space();
    const std::size_t begin = at_;
    const char32_t mark = peek() == U'0' ? peek(1) | 0x20 : U'\0';  // in lower case
    const unsigned base = mark == U'x' ? 16 : mark == U'o' ? 8 : mark == U'b' ? 2 : 10;
    if (base != 10) {
      at_ += 2;
      take(U'_');
    }
    literal.text = digits(base);
    take(U'L');  // a long of Python 2
    const std::size_t zeros = std::min(literal.text.find_first_not_of(U'0'), literal.text.size());
    const bool octal = base == 10 && zeros > 0 && zeros < literal.text.size();  // in Python 2
    if (octal || is_word(peek()) || peek() == U'.') {
      at_ = begin;
      fail("an integer");
    }
    literal.text = base == 10 && zeros == 0 ? literal.text : decimal_of(literal.text, base);
    if (negative && literal.text != U"0") literal.text.insert(0, 1, U'-');
    return literal;
  }

  Literal string() {
    Literal literal = make(Kind::string);
    const char32_t quote = text_[at_++];
    while (!take(quote)) {
      const char32_t c = peek();
      if (c == end_of_text || c == U'\n' || c == U'\r' || c == U'\0') fail("the end of a string");
      if (c == U'\\') {
        literal.text += escape();
      } else {
        literal.text += c;
        ++at_;
      }
    }
    if (peek() == U'\'' || peek() == U'"') fail("no second string");
    return literal;
  }

  char32_t escape() {
    static constexpr std::u32string_view names = U"\\'\"abfnrtv", values = U"\\'\"\a\b\f\n\r\t\v";
    const std::size_t begin = at_++;
    const char32_t c = peek();
    if (const auto i = names.find(c); i != names.npos) {
      ++at_;
      return values[i];
    }
    if (c >= U'0' && c <= U'7') {
      unsigned code = 0;
      for (int i = 0; i < 3 && peek() >= U'0' && peek() <= U'7'; ++i) code = code * 8 + (text_[at_++] - U'0');
      return code;
    }
    const int digits = c == U'x' ? 2 : c == U'u' ? 4 : c == U'U' ? 8 : 0;
    if (digits != 0) {
      ++at_;
      std::uint32_t code = 0;
      int seen = 0;
      for (; seen < digits; ++seen, ++at_) {
        const auto digit = hex_digit(peek());
        if (!digit) break;
        code = code << 4 | *digit;
      }
      if (seen == digits && code <= 0x10ffff) return code;
    }
    at_ = begin;
    fail("a Python escape sequence");
  }

  Literal sequence(int depth) {
    const bool round = text_[at_++] == U'(';
    const char32_t close = round ? U')' : U']';
    Literal literal = make(round ? Kind::tuple : Kind::list);
    bool comma = true;
    for (skip_space(); !take(close); skip_space()) {
      if (!comma) fail(round ? "',' or ')'" : "',' or ']'");
      literal.items.push_back(value(depth + 1));
      skip_space();
      comma = take(U',');
    }
    if (round && !comma) {
      // In Python, parentheses without a comma do not make a tuple.
      if (literal.items.size() == 1) return std::exchange(literal.items[0], {});
    }
    return literal;
  }

  Literal dictionary(int depth) {
    ++at_;
    Literal literal = make(Kind::dictionary);
    bool comma = true;
    for (skip_space(); !take(U'}'); skip_space()) {
      if (!comma) fail("',' or '}'");
      literal.items.push_back(value(depth + 1));
      skip_space();
      if (!take(U':')) fail("':'");
      skip_space();
      literal.items.push_back(value(depth + 1));
      skip_space();
      comma = take(U',');
    }
    return literal;
  }

  std::u32string_view text_;
  std::size_t at_ = 0;
};

void append_utf8(std::string& out, char32_t c) {
  const auto byte = [&](char32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | c >> 6);
    byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
}

void append_escaped(std::string& out, char32_t c) {
  const auto to = std::back_inserter(out);
  if (prints(c)) {
    append_utf8(out, c);
  } else if (c == U'\n') {
    out += "\\n";
  } else if (c == U'\t') {
    out += "\\t";
  } else if (c == U'\r') {
    out += "\\r";
  } else if (c < 0x100) {
    fmt::format_to(to, "\\x{:02x}", static_cast<std::uint32_t>(c));
  } else if (c < 0x10000) {
    fmt::format_to(to, "\\u{:04x}", static_cast<std::uint32_t>(c));
  } else {
    fmt::format_to(to, "\\U{:08x}", static_cast<std::uint32_t>(c));
  }
}

void append_string(std::string& out, std::u32string_view text) {
  const bool doubled = text.find(U'\'') != text.npos && text.find(U'"') == text.npos;
  const char32_t quote = doubled ? U'"' : U'\'';
  append_utf8(out, quote);
  for (const char32_t c : text) {
    if (c == U'\\' || c == quote) out += '\\';
    append_escaped(out, c);
  }
  append_utf8(out, quote);
}

void append(std::string& out, const Literal& literal) {
  const auto items = [&](char open, char close) {
    out += open;
    const bool pairs = literal.is(Kind::dictionary);
    for (std::size_t i = 0; i < literal.items.size(); ++i) {
      if (i != 0) out += pairs && i % 2 == 1 ? ": " : ", ";
      append(out, literal.items[i]);
    }
    if (literal.is(Kind::tuple) && literal.items.size() == 1) out += ',';
    out += close;
  };
  switch (literal.kind) {
    case Kind::none:
      out += "None";
      break;
    case Kind::boolean:
      out += literal.truth ? "True" : "False";
      break;
    case Kind::integer:
      out.append(literal.text.begin(), literal.text.end());
      break;
    case Kind::string:
      append_string(out, literal.text);
      break;
    case Kind::tuple:
      items('(', ')');
      break;
    case Kind::list:
      items('[', ']');
      break;
    case Kind::dictionary:
      items('{', '}');
      break;
  }
}

}  // namespace

Literal parse_literal(std::u32string_view text) { return Parser(text).whole(); }

std::string to_python(const Literal& literal) {
  std::string out;
  append(out, literal);
  return out;
}

std::string excerpt(std::u32string_view text) {
  std::string out = "\"";
  for (const char32_t c : text.substr(0, excerpt_length)) append_escaped(out, c);
  return out + (text.size() > excerpt_length ? "...\"" : "\"");
}

std::string excerpt(std::string_view bytes) {
  std::string out = "\"";
  for (std::size_t i = 0; i < excerpt_length && !bytes.empty(); ++i) {
    const Utf8Character c = first_character(bytes);
    if (c.code) {
      append_escaped(out, *c.code);
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    }
    bytes.remove_prefix(c.bytes.size());
  }
  return out + (bytes.empty() ? "\"" : "...\"");
}

std::string to_utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

std::u32string from_latin1(std::string_view bytes) {
  std::u32string text;
  text.reserve(bytes.size());
  for (const char c : bytes) text += static_cast<unsigned char>(c);
  return text;
}

std::u32string from_utf8(std::string_view bytes) {
  std::u32string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const Utf8Character c = first_character(bytes.substr(at));
    if (!c.code) throw InputError(fmt::format("byte {} is not UTF-8: {}", at, excerpt(bytes.substr(at, 4))));
    text += *c.code;
    at += c.bytes.size();
  }
  return text;
}

}  // namespace xorder::io
