// Command lines: the one of this program, and those suggested to the user.
#pragma once

#include <string>
#include <string_view>

namespace xorder::cli {

/// main() calls this first.
void remember_invocation(int argc, const char* const* argv, std::string_view program = "xorder");

/// One word of a shell's command line, in quotes if it needs them.
std::string quoted_for_shell(std::string_view word);

/// The whole command line, quoted for a shell where needed, with that name of the program.
std::string invocation();

}  // namespace xorder::cli
