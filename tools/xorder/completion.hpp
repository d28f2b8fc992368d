// What a shell offers when the user presses the tab key: the hidden command `xorder __complete WORD..`.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace xorder::cli {

/// What the last of the words, which may be empty, can become: commands, options, or an option's values. If
/// there is nothing, it may be a file. `words` are those behind the program's name, at least one.
std::vector<std::string> completions(const CLI::App& program, std::span<const std::string> words);

}  // namespace xorder::cli
