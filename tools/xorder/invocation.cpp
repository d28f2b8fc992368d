#include "invocation.hpp"

#include <string_view>

namespace xorder::cli {
namespace {

std::string whole_line;

}  // namespace

std::string quoted_for_shell(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void remember_invocation(int argc, const char* const* argv, std::string_view program) {
  whole_line = program;
  for (int i = 1; i < argc; ++i) whole_line += ' ' + quoted_for_shell(argv[i]);
}

std::string invocation() { return whole_line; }

}  // namespace xorder::cli
