// Command lines: the one of this program, and those suggested to the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xorder::cli {

/// main() calls this first.
void remember_invocation(std::vector<std::string> words, std::string_view program = "xorder");

/// One word of a shell's command line, in quotes if it needs them.
std::string quoted_for_shell(std::string_view word);

/// The words behind the program's name.
const std::vector<std::string>& given_words();

/// The whole command line, quoted for a shell where needed, with that name of the program.
std::string invocation();

}  // namespace xorder::cli
