#include "arguments.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Int>
Int parse_number(std::string_view text, const std::string& what, const char* expected) {
  Int value{};
  const auto trimmed = trim(text);
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (trimmed.empty() || error != std::errc() || end != trimmed.data() + trimmed.size()) {
    throw InputError(fmt::format("{}: '{}' is not {}", what, text, expected));
  }
  return value;
}

template <typename Int>
std::vector<Int> parse_list(std::string_view text, const std::string& what, const char* expected) {
  auto rest = trim(text);
  if (rest.size() >= 2 && rest.front() == '(' && rest.back() == ')') rest = rest.substr(1, rest.size() - 2);
  if (rest.ends_with(',')) rest.remove_suffix(1);  // (5,) as Python writes it
  std::vector<Int> list;
  while (true) {
    const auto comma = rest.find(',');
    list.push_back(parse_number<Int>(rest.substr(0, comma), what, expected));
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

// The factor of a unit such as MiB, M or MB; 0 if it is none.
double unit_factor(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  constexpr std::string_view prefixes = "KMGTPE";
  const auto power = prefixes.find(static_cast<char>(unit[0] & ~0x20));
  if (power == std::string_view::npos) return 0;
  const auto rest = unit.substr(1);
  if (rest.empty() || rest == "iB") return std::pow(1024.0, static_cast<double>(power + 1));
  if (rest == "B") return std::pow(1000.0, static_cast<double>(power + 1));
  return 0;
}

}  // namespace

std::uint64_t parse_size(std::string_view text, const std::string& what) {
  const auto fail = [&](const char* why) {
    return InputError(fmt::format("{}: '{}' is {}; give a number with a unit, such as 2GiB, 512MiB or 1.5G", what, text, why));
  };
  const auto trimmed = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value, std::chars_format::fixed);
  const auto unit = trim({end, static_cast<std::size_t>(trimmed.data() + trimmed.size() - end)});
  const double factor = unit_factor(unit);
  if (trimmed.empty() || error != std::errc() || !std::isfinite(value) || factor == 0) throw fail("no size");
  if (value < 0) throw fail("negative");
  if (value * factor < 1) throw fail("zero");
  if (value * factor >= 9.2e18) throw fail("too large");
  return static_cast<std::uint64_t>(value * factor);
}

int parse_int(std::string_view text, const std::string& what) {
  return parse_number<int>(text, what, "a whole number");
}

std::vector<int> parse_ints(std::string_view text, const std::string& what) {
  return parse_list<int>(text, what, "a whole number");
}

std::vector<std::uint64_t> parse_extents(std::string_view text, const std::string& what) {
  return parse_list<std::uint64_t>(text, what, "a whole number from 0 on");
}

std::string size_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

}  // namespace xorder::cli
