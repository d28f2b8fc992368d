// The input of `xorder report`, and its outputs.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/survey.hpp"

namespace xorder::cli {

struct TracedRun {
  std::string name;  ///< of the trace
  std::string command, started;
  nlohmann::json plan, report, host;  ///< as in the trace; objects or null
  std::vector<TracedFile> files;
  Survey survey;
};

/// Reads a trace. Throws InputError, one line, if it is not one.
TracedRun read_run(const std::filesystem::path& path);

std::string report_text(const TracedRun& run);
nlohmann::json report_json(const TracedRun& run);
/// One HTML page.
std::string report_page(const TracedRun& run);

}  // namespace xorder::cli
