#include "xorder/io/dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>

#include "io/format/python_literal.hpp"
#include "io/format/type_string.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

constexpr std::string_view known_types =
    "u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 f16 c8 c16 c32 b1 S<n> U<n> V<n> M8[unit] m8[unit]";
constexpr std::string_view units = "Y M W D h m s ms us ns ps fs as";

constexpr std::array<std::string_view, 16> numbers{"u1", "u2", "u4", "u8",  "i1", "i2",  "i4",  "i8",
                                                   "f2", "f4", "f8", "f16", "c8", "c16", "c32", "b1"};

// The names that numpy.dtype prints, for users: files have the short ones. NumPy takes no byte order before
// them.
struct LongName {
  std::string_view name, type;
};
constexpr LongName long_names[] = {
    {"bool", "b1"},    {"int8", "i1"},    {"int16", "i2"},     {"int32", "i4"},       {"int64", "i8"},
    {"uint8", "u1"},   {"uint16", "u2"},  {"uint32", "u4"},    {"uint64", "u8"},      {"float16", "f2"},
    {"float32", "f4"}, {"float64", "f8"}, {"complex64", "c8"}, {"complex128", "c16"},
};

[[noreturn]] void unknown(std::string_view text) {
  throw InputError(
      fmt::format("unknown type {}; known are {}, unit one of {}, after < (little-endian), "
                  "> (big-endian), = or | or nothing; and names such as float64, int32, uint8, complex128, "
                  "bool",
                  excerpt(text), known_types, units));
}

// `text` as a decimal number, or nothing. Values above 2^32 become 2^32, so that no caller's arithmetic
// overflows.
std::optional<std::uint64_t> number(std::string_view text) {
  constexpr std::uint64_t cap = std::uint64_t{1} << 32;
  if (text.empty()) return {};
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = std::min(value * 10 + static_cast<std::uint64_t>(c - '0'), cap);
  }
  return value;
}

// The unit as NumPy writes it, such as "[25s]"; "" for a time type without a unit.
std::optional<std::string> canonical_unit(std::string_view text) {
  if (text.empty() || text == "[generic]") return "";
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return {};
  text = text.substr(1, text.size() - 2);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::uint64_t multiple = digits == 0 ? 1 : *number(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  if (unit == "μs") unit = "us";
  const bool known = !unit.empty() && unit.find(' ') == unit.npos &&
                     fmt::format(" {} ", units).find(fmt::format(" {} ", unit)) != std::string::npos;
  if (!known || multiple == 0 || multiple > max_element_bytes) return {};  // NumPy keeps it in a C int
  return multiple == 1 ? fmt::format("[{}]", unit) : fmt::format("[{}{}]", multiple, unit);
}

}  // namespace

TypeString parse_type_string(std::string_view text) {
  std::string_view rest = text;
  char order = std::endian::native == std::endian::little ? '<' : '>';
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    if (rest[0] == '<' || rest[0] == '>') order = rest[0];
    rest.remove_prefix(1);
  }
  if (rest == "?") rest = "b1";
  if (rest.empty()) unknown(text);

  if (rest == "O" || (rest[0] == 'O' && number(rest.substr(1)))) {
    throw InputError(
        fmt::format("type {} is Python objects: their file holds a pickle, which is not an array of "
                    "fixed-size elements and is never loaded; store them as a fixed-size type",
                    excerpt(text)));
  }
  if (std::find(numbers.begin(), numbers.end(), rest) != numbers.end()) {
    const std::uint64_t bytes = *number(rest.substr(1));
    return {bytes, fmt::format("{}{}", bytes == 1 ? '|' : order, rest)};
  }
  if (rest.starts_with("M8") || rest.starts_with("m8")) {
    const auto unit = canonical_unit(rest.substr(2));
    if (!unit) unknown(text);
    return {8, fmt::format("{}{}{}", order, rest.substr(0, 2), *unit)};
  }
  if (rest[0] == 'S' || rest[0] == 'U' || rest[0] == 'V') {
    const auto count = number(rest.substr(1));
    if (!count) unknown(text);
    const std::uint64_t bytes = rest[0] == 'U' ? *count * 4 : *count;
    if (bytes > max_element_bytes)
      throw InputError(fmt::format("type {} is too large; an element has at most {} bytes", excerpt(text),
                                   max_element_bytes));
    return {bytes, fmt::format("{}{}{}", rest[0] == 'U' ? order : '|', rest[0], *count)};
  }
  unknown(text);
}

DType parse_dtype(std::string_view text) {
  const auto* const name = std::ranges::find(long_names, text, &LongName::name);
  const TypeString type = parse_type_string(name == std::end(long_names) ? text : name->type);
  if (type.bytes == 0)
    throw InputError(
        fmt::format("type {} has elements of no bytes; there is nothing to move", excerpt(text)));
  return {type.bytes, fmt::format("'{}'", type.canonical)};
}

NumberType number_type(const DType& dtype) {
  const std::string_view text = dtype.descr;
  if (text.size() < 4 || text.front() != '\'') return {};  // a structured type
  const std::string_view inside = text.substr(1, text.size() - 2);
  if (std::ranges::find(numbers, inside.substr(1)) == numbers.end()) return {};
  constexpr bool little = std::endian::native == std::endian::little;
  return {inside[1], dtype.bytes, inside[0] == (little ? '>' : '<')};
}

}  // namespace xorder::io
