// The format of every command's help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace xorder::cli {

/// Prints the groups of options in one order, the rare ones only for --help-all, and breaks lines.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(name_columns); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::string groups(const CLI::App& app, bool all) const;

  static constexpr std::size_t name_columns = 34, columns = 110;
};

}  // namespace xorder::cli
