// Options whose values are checked when the command line is parsed.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

/// Adds an option with a number, 0 or more, read by parse_int or parse_number. (CLI11 itself would read octal
/// numbers, and -8 as 2^64 - 8.) `Number` is int, std::uint64_t or a std::optional of one of them; `value`
/// must live as long as the command.
template <typename Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value,
                        const std::string& description) {
  const auto read = [&value, name](const std::string& text) {
    if constexpr (std::is_same_v<Number, int> || std::is_same_v<Number, std::optional<int>>) {
      const int number = parse_int(text, name);
      if (number < 0) throw InputError(name + ": " + text + " is negative");
      value = number;
    } else {
      value = parse_number(text, name);
    }
  };
  return command.add_option_function<std::string>(name, read, description)->type_name("N");
}

/// Adds an option whose value parse(text, name) makes when the command line is parsed. `value` must live as
/// long as the command.
template <typename Value, typename Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& name, const std::string& type, Value& value,
                        Parse parse, const std::string& description) {
  const auto read = [&value, name, parse](const std::string& text) { value = parse(text, name); };
  return command.add_option_function<std::string>(name, read, description)->type_name(type);
}

/// Adds an option whose value is one of the words, or what stands for each of them.
inline CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& description) {
  return command.add_option(name, value, description)
      ->check(CLI::IsMember(words).description(""))
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}
template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::vector<std::pair<std::string, Value>>& choices,
                        const std::string& description) {
  const auto pick = [&value, choices](const std::string& word) {
    value = std::ranges::find(choices, word, &std::pair<std::string, Value>::first)->second;
  };
  return command.add_option_function<std::string>(name, pick, description)
      ->check(CLI::IsMember(choices).description(""))
      ->type_name(fmt::format("{}", fmt::join(choices | std::views::keys, "|")));
}

/// Adds --layout. Into a string goes its text, otherwise what parse_layout() makes of it. `when` and `whose`
/// are for its help: "with --parts: ", "its rank".
template <typename Value>
CLI::Option* add_layout(CLI::App& command, Value& value, const std::string& when, const std::string& whose) {
  const auto parse = [](const std::string& text, const std::string& name) {
    if constexpr (std::is_same_v<Value, std::string>)
      return text;
    else
      return parse_layout(text, name);
  };
  return add_parsed(
      command, "--layout", "major|minor|F", value, parse,
      when + "which bits of an index are " + whose +
          ": the top ones (major), the low ones (minor), or those from bit F on; default: major");
}

}  // namespace xorder::cli
