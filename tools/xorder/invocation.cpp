#include "invocation.hpp"

#include <string_view>
#include <utility>

namespace xorder::cli {
namespace {

std::string program_name;
std::vector<std::string> given;

}  // namespace

std::string quoted_for_shell(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void remember_invocation(std::vector<std::string> words, std::string_view program) {
  program_name = program;
  given = std::move(words);
}

const std::vector<std::string>& given_words() { return given; }

std::string invocation() {
  std::string line = program_name;
  for (const std::string& word : given) line += ' ' + quoted_for_shell(word);
  return line;
}

}  // namespace xorder::cli
