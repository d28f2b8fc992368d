#include "help_formatter.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "option_groups.hpp"

namespace xorder::cli {
std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
         groups(*app, mode == CLI::AppFormatMode::All) + make_subcommands(app, mode) + '\n' +
         make_footer(app);
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  constexpr std::string_view hidden = " [...]";  // CLI11's word for more files without a name
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  if (const auto at = usage.find(hidden); at != std::string::npos) usage.erase(at, hidden.size());
  return usage;
}

// Groups of other names come first.
std::string HelpFormatter::groups(const CLI::App& app, bool all) const {
  std::vector<std::string> groups = app.get_groups();
  std::ranges::stable_sort(groups, {}, [](const std::string& name) {
    const auto at = std::ranges::find(group::order, name);
    return at == group::order.end() ? -1 : at - group::order.begin();
  });
  std::string text;
  for (const std::string& group : groups) {
    if (!all && group::is_rare(group)) continue;
    const auto options = app.get_options(
        [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
    if (!group.empty() && !options.empty()) text += make_group(group, false, options);
  }
  return text;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::istringstream words(option->get_description());
  std::string text, word;
  for (std::size_t used = 0; words >> word; used += word.size()) {
    if (used > 0) {
      const bool fits = used + 1 + word.size() <= columns - name_columns;
      text += fits ? ' ' : '\n';
      used = fits ? used + 1 : 0;
    }
    text += word;
  }
  return text;
}

}  // namespace xorder::cli
