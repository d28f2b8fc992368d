// How programs are called: this one, and others that the user is told of.
#pragma once

#include <string>
#include <string_view>

namespace xorder::cli {

/// To be called first, by main().
void remember_invocation(int argc, const char* const* argv);

/// One word of a shell's command line, in quotes if it needs them.
std::string quoted_for_shell(std::string_view word);

/// The whole line, quoted for a shell where that is needed; "xorder" for the program.
std::string invocation();

}  // namespace xorder::cli
