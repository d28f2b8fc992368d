// What a run tells the user: --dry-run, --json, --quiet, --progress and --trace.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::cli {

struct Reporting {
  bool dry_run = false, json = false, quiet = false;
  std::string trace;        ///< the file of --trace, or empty
  std::optional<bool> bar;  ///< --progress; nothing: on a terminal

  void add_to(CLI::App& command);

  /// Whether this process shows a progress bar.
  bool shows_bar() const;
  /// Prints a note on standard error, unless the run is quiet.
  void note(const std::string& text) const;
  void plan(const work::Work& work, const std::vector<io::ArrayFile>& inputs,
            const std::stop_token& stop) const;
  /// After a run that has made `output`, or the rest of it.
  void report(const work::Work& work, const work::Report& report, const std::vector<io::ArrayFile>& inputs,
              const std::string& output, bool rest) const;
  /// With what a schedule has sent.
  static nlohmann::json report_json(const work::Work& work, const work::Report& report);
};

}  // namespace xorder::cli
