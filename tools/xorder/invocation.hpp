// How the program was called.
#pragma once

#include <string>

namespace xorder::cli {

/// To be called first, by main().
void remember_invocation(int argc, const char* const* argv);

/// The whole line, quoted for a shell where that is needed; "xorder" for the program.
std::string invocation();

}  // namespace xorder::cli
