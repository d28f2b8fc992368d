#include "arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <ranges>

#include "task/threads.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Int>
Int parse(std::string_view text, const std::string& what, const char* expected) {
  Int value{};
  const auto trimmed = trim(text);
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (error == std::errc::result_out_of_range && end == trimmed.data() + trimmed.size()) {
    throw InputError(
        fmt::format("{}: {} is too {}", what, trimmed, trimmed.front() == '-' ? "small" : "large"));
  }
  if (trimmed.empty() || error != std::errc() || end != trimmed.data() + trimmed.size()) {
    throw InputError(fmt::format("{}: '{}' is not {}", what, text, expected));
  }
  return value;
}

// What stands between the separators of a list, with or without parentheses.
std::vector<std::string_view> items_of(std::string_view text, std::string_view separators = ",") {
  auto rest = trim(text);
  if (rest.size() >= 2 && rest.front() == '(' && rest.back() == ')') rest = rest.substr(1, rest.size() - 2);
  if (rest.ends_with(',')) rest.remove_suffix(1);  // as in Python's (5,)
  std::vector<std::string_view> items;
  while (true) {
    const auto end = rest.find_first_of(separators);
    items.push_back(rest.substr(0, end));
    if (end == std::string_view::npos) return items;
    rest.remove_prefix(end + 1);
  }
}

// The bytes of a unit such as MiB, M or mb; 0 if it is none.
std::uint64_t unit_bytes(std::string_view text) {
  std::string unit(text);
  for (char& c : unit) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (unit.empty() || unit == "B") return 1;
  constexpr std::string_view prefixes = "KMGTPE";
  const auto power = prefixes.find(unit[0]);
  if (power == std::string_view::npos) return 0;
  const auto rest = unit.substr(1);
  const std::uint64_t base = rest.empty() || rest == "IB" ? 1024 : rest == "B" ? 1000 : 0;
  std::uint64_t bytes = base;
  for (std::size_t i = 0; i < power; ++i) bytes *= base;
  return bytes;
}

InputError bad_size(std::string_view text, const std::string& what, const char* why) {
  return InputError(fmt::format(
      "{}: '{}' is {}; give bytes, or a number with a unit, such as 2GiB, 512MiB or 1.5G", what, text, why));
}

struct Size {
  std::uint64_t bytes = 0;  // rounded down
  bool exact = true;
};

// Uses integers only: a double has too few bits for an offset, and cannot represent 0.1.
Size parse_size(std::string_view text, const std::string& what) {
  const auto fail = [&](const char* why) { return bad_size(text, what, why); };
  const auto trimmed = trim(text);
  const auto number = trimmed.substr(0, trimmed.find_first_not_of("0123456789."));
  const std::size_t point = std::min(number.find('.'), number.size());
  const auto fraction = number.substr(std::min(point + 1, number.size()));
  const std::uint64_t unit = unit_bytes(trim(trimmed.substr(number.size())));
  if (trimmed.starts_with('-')) throw fail("negative");
  const bool well_formed =
      !number.empty() && number.back() != '.' && fraction.find('.') == std::string_view::npos;
  if (!well_formed || unit == 0) throw fail("not a size");
  if (unit == 1 && !fraction.empty()) throw fail("not a whole number of bytes");

  Size size;
  for (const char digit : fraction | std::views::reverse) {
    size.bytes += static_cast<std::uint64_t>(digit - '0') * unit;
    size.exact = size.exact && size.bytes % 10 == 0;
    size.bytes /= 10;
  }
  std::uint64_t units = 0, whole = 0;
  const auto error = std::from_chars(number.data(), number.data() + point, units).ec;
  if (error == std::errc::result_out_of_range || __builtin_mul_overflow(units, unit, &whole) ||
      __builtin_add_overflow(size.bytes, whole, &size.bytes) || size.bytes >= std::uint64_t{1} << 63) {
    throw fail("too large");
  }
  return size;
}

bool is_number(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::uint64_t parse_memory(std::string_view text, const std::string& what) {
  const std::uint64_t bytes = parse_size(text, what).bytes;
  if (bytes == 0) throw bad_size(text, what, "zero");
  return bytes;
}

std::uint64_t parse_offset(std::string_view text, const std::string& what) {
  const Size size = parse_size(text, what);
  if (!size.exact) throw bad_size(text, what, "not a whole number of bytes");
  return size.bytes;
}

int parse_int(std::string_view text, const std::string& what) {
  return parse<int>(text, what, "a whole number");
}

std::optional<int> parse_layout(std::string_view text, const std::string& what) {
  if (text.empty() || text == "major") return std::nullopt;
  return text == "minor" ? 0 : parse_int(text, what);
}

unsigned parse_threads(const std::string& text, const std::string& what) {
  const int threads = parse_int(text, what);
  if (threads < 1 || threads > task::max_threads)
    throw InputError(fmt::format("{}: {} is not from 1 to {}", what, threads, task::max_threads));
  return static_cast<unsigned>(threads);
}

std::vector<int> parse_ints(std::string_view text, const std::string& what) {
  std::vector<int> list;
  for (const auto item : items_of(text)) list.push_back(parse_int(item, what));
  return list;
}

Order parse_order(std::string_view text, const std::string& what) {
  if (text != "C" && text != "F") throw InputError(fmt::format("{}: '{}' is neither C nor F", what, text));
  return text == "C" ? Order::c : Order::fortran;
}

std::vector<std::int64_t> parse_strides(std::string_view text, const std::string& what) {
  std::vector<std::int64_t> list;
  if (trim(text) == "()") return list;
  for (const auto item : items_of(text)) {
    list.push_back(parse<std::int64_t>(item, what, "a whole number of bytes"));
    if (list.back() == std::numeric_limits<std::int64_t>::min())
      throw InputError(fmt::format("{}: {} is too small", what, trim(item)));
  }
  return list;
}

std::vector<io::Index> parse_indices(std::string_view text, const std::string& what) {
  constexpr const char* expected = "an index: a whole number, a slice start:stop:step or ...";
  const auto number = [&](std::string_view part) { return parse<std::int64_t>(part, what, expected); };
  std::vector<io::Index> indices;
  if (trim(text) == "()") return indices;
  for (const auto item : items_of(text)) {
    io::Index& index = indices.emplace_back();
    if (trim(item) == "...") {
      index.kind = io::Index::Kind::ellipsis;
    } else if (item.find(':') == std::string_view::npos) {
      index = {.kind = io::Index::Kind::integer, .start = number(item)};
    } else {
      auto rest = item;
      std::optional<std::int64_t>* const parts[] = {&index.start, &index.stop, &index.step};
      for (std::size_t i = 0; i < 3; ++i) {
        const auto end = i < 2 ? rest.find(':') : std::string_view::npos;
        if (const auto part = rest.substr(0, end); !trim(part).empty()) *parts[i] = number(part);
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
      }
    }
  }
  return indices;
}

std::vector<std::string> parse_words(std::string_view text, const std::string&) {
  std::vector<std::string> list;
  for (const auto item : items_of(text)) list.emplace_back(trim(item));
  return list;
}

RawShape parse_shape(std::string_view text, const std::string& what) {
  RawShape shape;
  if (const auto list = trim(text);
      list.starts_with('(') && list.ends_with(')') && list.find_first_not_of(' ', 1) == list.size() - 1) {
    return shape;
  }
  for (const auto item : items_of(text, ",x")) {
    const bool inferred = trim(item) == "-1";
    if (inferred && shape.inferred_axis)
      throw InputError(
          fmt::format("{}: '{}' has more than one -1; the size of a file gives one extent", what, text));
    if (inferred) shape.inferred_axis = shape.extents.size();
    shape.extents.push_back(
        inferred ? 1 : parse<std::uint64_t>(item, what, "a whole number, 0 or more, or one -1"));
  }
  return shape;
}

std::optional<std::string> complaint_of_number(std::span<const std::string> words) {
  const auto number = std::ranges::find_if(words, is_number);
  if (number == words.end()) return std::nullopt;
  return fmt::format(
      "'{}' is one word too many; write a list without blanks, as in --shape 12,7 or --axes 1,0", *number);
}

std::uint64_t parse_number(std::string_view text, const std::string& what) {
  return parse<std::uint64_t>(text, what, "a whole number, 0 or more");
}

std::uint64_t parse_count(std::string_view text, const std::string& what) {
  constexpr const char* expected = "a whole number from 1 to 2^63 - 1";
  const auto value = parse<std::uint64_t>(text, what, expected);
  if (value == 0 || value >> 63 != 0)
    throw InputError(fmt::format("{}: '{}' is not {}", what, text, expected));
  return value;
}

}  // namespace xorder::cli
