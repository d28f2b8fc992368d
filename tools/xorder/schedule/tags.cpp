// The formats of files: routing tags, and lines of numbers.
#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "io/format/python_literal.hpp"
#include "schedule/shown.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/network.hpp"

namespace xorder::cli {
namespace {

// The characters of a line without blanks; empty for a comment.
std::string content(std::string_view line) {
  std::string kept;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r') kept.push_back(c);
  }
  if (!kept.empty() && kept.front() == '#') kept.clear();
  return kept;
}

}  // namespace

RoutingTags parse_tags(std::string_view text, const std::string& name) {
  RoutingTags task;
  std::size_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string line = content(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line_number;
    if (line.empty()) continue;
    const auto fail = [&](const std::string& what) {
      return InputError(fmt::format("{}: line {}: {}", name, line_number, what));
    };
    if (line.size() > static_cast<std::size_t>(schedule::Network::max_dimension)) {
      throw fail(fmt::format("a tag of {} bits; at most {}", line.size(), schedule::Network::max_dimension));
    }
    if (task.tags.empty()) task.dimension = static_cast<int>(line.size());
    if (static_cast<int>(line.size()) != task.dimension) {
      throw fail(fmt::format("a tag of {} bits, but the first one has {}", line.size(), task.dimension));
    }
    std::uint64_t tag = 0;
    for (std::size_t j = 0; j < line.size(); ++j) {
      if (line[j] != '0' && line[j] != '1') throw fail("a tag consists of 0 and 1 only");
      tag |= static_cast<std::uint64_t>(line[j] - '0') << j;
    }
    task.tags.push_back(tag);
  }
  if (task.tags.empty())
    throw InputError(fmt::format("{}: has no tags; expected lines of 0 and 1, dimension 0 first", name));
  return task;
}

void for_each_line_of_words(
    const std::string& text,
    const std::function<void(std::size_t line, const std::vector<std::string>& words)>& take) {
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream rest(line);
    std::vector<std::string> words;
    for (std::string word; rest >> word && word.front() != '#';) words.push_back(word);
    if (!words.empty()) take(number, words);
  }
}

void for_each_line_of_numbers(
    const std::string& text, const std::string& name, int base,
    const std::function<void(std::size_t line, const std::vector<std::uint64_t>& numbers)>& take) {
  for_each_line_of_words(text, [&](std::size_t line, const std::vector<std::string>& words) {
    std::vector<std::uint64_t> values;
    for (const std::string& word : words) {
      const char* const last = word.data() + word.size();
      const auto [end, error] = std::from_chars(word.data(), last, values.emplace_back(), base);
      if (error != std::errc() || end != last)
        throw InputError(fmt::format("{}: line {}: {} is not a whole number", name, line, io::excerpt(word)));
    }
    take(line, values);
  });
}

}  // namespace xorder::cli
