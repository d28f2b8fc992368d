#include "completion.hpp"

#include <algorithm>
#include <ranges>
#include <string_view>

namespace xorder::cli {
namespace {

const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
  return word.starts_with('-') ? command.get_option_no_throw(word) : nullptr;
}

const CLI::App* command_of(const CLI::App& command, const std::string& word) {
  const auto all = command.get_subcommands({});
  const auto found = std::ranges::find(all, word, &CLI::App::get_name);
  return found == all.end() ? nullptr : *found;
}

// The words of its type's name that users write as they stand: those of "ssd|hdd|FILE" but FILE, and both of
// "C|F".
std::vector<std::string> values_of(const CLI::Option& option) {
  std::vector<std::string> words;
  const std::string type = option.get_type_name();
  for (const auto part : std::views::split(type, '|')) words.emplace_back(part.begin(), part.end());
  if (words.size() == 1) return {};
  const bool letters = std::ranges::all_of(words, [](const auto& word) { return word.size() == 1; });
  std::erase_if(words, [&](const std::string& word) {
    return !letters && (word.empty() || word.front() < 'a' || word.front() > 'z');
  });
  return words;
}

}  // namespace

std::vector<std::string> completions(const CLI::App& program, std::span<const std::string> words) {
  const std::string& last = words.back();
  const CLI::App* command = &program;
  const CLI::Option* waiting = nullptr;  // for its value
  for (const std::string& word : words.first(words.size() - 1)) {
    if (waiting != nullptr) {
      waiting = nullptr;
    } else if (const CLI::Option* option = option_of(*command, word)) {
      if (option->get_items_expected_max() > 0) waiting = option;
    } else if (const CLI::App* next = command_of(*command, word)) {
      command = next;
    }
  }

  std::vector<std::string> found;
  if (waiting != nullptr) {
    found = values_of(*waiting);
  } else if (const std::size_t sign = last.find('='); last.starts_with("--") && sign != last.npos) {
    if (const CLI::Option* option = option_of(*command, last.substr(0, sign)))
      for (const std::string& value : values_of(*option)) found.push_back(last.substr(0, sign + 1) + value);
  } else if (last.starts_with('-')) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty()) continue;
      for (const std::string& name : option->get_lnames()) found.push_back("--" + name);
    }
  } else {
    for (const CLI::App* next : command->get_subcommands({})) {
      if (!next->get_group().empty()) found.push_back(next->get_name());
    }
  }
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(last); });
  return found;
}

}  // namespace xorder::cli
