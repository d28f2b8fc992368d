#include "xorder/io/dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

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

// What else NumPy calls a type: letters, which a byte order may precede, and names, which it may not.
struct Alias {
  std::string_view type, letters, names;  // the names between blanks
};
constexpr Alias aliases[] = {
    {"b1", "?", " bool bool_ bool8 "},
    {"i1", "b", " int8 byte "},
    {"u1", "B", " uint8 ubyte "},
    {"i2", "h", " int16 short "},
    {"u2", "H", " uint16 ushort "},
    {"i4", "i", " int32 intc "},
    {"u4", "I", " uint32 uintc "},
    {"i8", "lqp", " int64 int int_ int0 intp long longlong "},
    {"u8", "LQP", " uint64 uint uint0 uintp ulong ulonglong "},
    {"f2", "e", " float16 half "},
    {"f4", "f", " float32 single "},
    {"f8", "d", " float64 double float float_ "},
    {"f16", "g", " float128 longdouble longfloat "},
    {"c8", "F", " complex64 csingle singlecomplex "},
    {"c16", "D", " complex128 cdouble complex complex_ cfloat "},
    {"c32", "G", " complex256 clongdouble clongfloat longcomplex "},
    {"S1", "c", ""},
    {"S0", "Sa", " bytes bytes_ bytes0 string_ "},
    {"U0", "U", " str str_ str0 unicode unicode_ "},
    {"V0", "V", " void void0 "},
    {"M8", "M", ""},
    {"m8", "m", ""},
    {"O", "O", " object object_ object0 "},
};

// The type that a letter or a name means; `text` itself if it is neither.
std::string_view unaliased(std::string_view text, bool after_order) {
  const bool word = !text.empty() && text.find(' ') == text.npos;
  for (const Alias& alias : aliases) {
    const bool letter = text.size() == 1 && alias.letters.find(text) != text.npos;
    if (letter || (word && !after_order && alias.names.find(fmt::format(" {} ", text)) != text.npos))
      return alias.type;
  }
  return text;
}

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

// Absent for what NumPy does not know.
std::optional<TypeString> known_type(std::string_view text) {
  std::string_view rest = text;
  char order = std::endian::native == std::endian::little ? '<' : '>';
  const bool ordered = !rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos;
  if (ordered) {
    if (rest[0] == '<' || rest[0] == '>') order = rest[0];
    rest.remove_prefix(1);
  }
  rest = unaliased(rest, ordered);
  if (rest.empty()) return {};
  const auto count = number(rest.substr(1));

  if (rest == "O" || (rest[0] == 'O' && count)) {
    throw InputError(
        fmt::format("type {} is Python objects: their file holds a pickle, which is not an array of "
                    "fixed-size elements and is never loaded; store them as a fixed-size type",
                    excerpt(text)));
  }
  for (const auto& [name, type] :
       {std::pair("M8", "M8"), {"m8", "m8"}, {"datetime64", "M8"}, {"timedelta64", "m8"}}) {
    if (!rest.starts_with(name)) continue;
    const auto unit = canonical_unit(rest.substr(std::string_view(name).size()));
    if (!unit) return {};
    return TypeString{8, fmt::format("{}{}{}", order, type, *unit)};
  }
  if (!count) return {};
  if (const std::string plain = fmt::format("{}{}", rest[0], *count);
      std::ranges::find(numbers, plain) != numbers.end())
    return TypeString{*count, fmt::format("{}{}", *count == 1 ? '|' : order, plain)};
  if (std::string_view("SaUV").find(rest[0]) == std::string_view::npos) return {};
  const std::uint64_t bytes = rest[0] == 'U' ? *count * 4 : *count;
  if (bytes > max_element_bytes)
    throw InputError(fmt::format("type {} is too large; an element has at most {} bytes", excerpt(text),
                                 max_element_bytes));
  return TypeString{
      bytes, fmt::format("{}{}{}", rest[0] == 'U' ? order : '|', rest[0] == 'a' ? 'S' : rest[0], *count)};
}

// A type that NumPy's own file format can carry, but only whoever registered it knows, such as those of
// ml_dtypes: <f1. Its size stands behind the letter.
std::optional<TypeString> opaque_type(std::string_view text) {
  if (text.size() < 3 || std::string_view("<>=|").find(text[0]) == std::string_view::npos) return {};
  const char letter = text[1] | 0x20;
  const auto bytes = number(text.substr(2));
  if (letter < 'a' || letter > 'z' || std::string_view("OSaUVMmt").find(text[1]) != std::string_view::npos ||
      !bytes || *bytes == 0 || *bytes > max_element_bytes)
    return {};
  return TypeString{*bytes, std::string(text)};
}

}  // namespace

TypeString parse_type_string(std::string_view text) {
  if (auto type = known_type(text)) return *std::move(type);
  if (auto type = opaque_type(text)) return *std::move(type);
  unknown(text);
}

DType parse_dtype(std::string_view text) {
  const auto type = known_type(text);
  if (!type) unknown(text);
  if (type->bytes == 0)
    throw InputError(
        fmt::format("type {} has elements of no bytes; there is nothing to move", excerpt(text)));
  return {type->bytes, fmt::format("'{}'", type->canonical)};
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
