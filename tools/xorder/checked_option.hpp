// Options whose value is a number, or one of a few words.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
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

/// Adds an option whose value is one of the words.
inline CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& description) {
  return command.add_option(name, value, description)
      ->check(CLI::IsMember(words).description(""))
      ->type_name(fmt::format("{}", fmt::join(words, "|")));
}

/// Adds --layout, read by parse_layout(). `when` and `whose` are for its help: "with --parts: ", "its rank".
inline CLI::Option* add_layout(CLI::App& command, std::string& value, const std::string& when,
                               const std::string& whose) {
  return command
      .add_option("--layout", value,
                  when + "which bits of an index are " + whose +
                      ": the top ones (major), the low ones (minor), or those from bit F on; default: major")
      ->type_name("major|minor|F");
}

}  // namespace xorder::cli
