// A fuzz target is a file here with these two functions; main.cpp and libFuzzer make a program of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xorder::fuzz {

/// Small inputs that are right, or nearly so.
std::vector<std::string> seeds();

/// Parses hostile input, and traps if what was read is not as it should be. May throw InputError, in one line.
void parse(std::string_view input);

/// Traps if a law does not hold.
inline void must(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace xorder::fuzz
