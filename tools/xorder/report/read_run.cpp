#include <fmt/format.h>

#include "text/json_text.hpp"
#include "report/report.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

[[noreturn]] void refuse_description(const std::string& name, const char* what) {
  throw InputError(fmt::format("{}: is damaged: its description has no valid {}", name, what));
}

std::vector<TracedFile> files_of(const nlohmann::json& description, const std::string& name) {
  std::vector<TracedFile> files;
  const auto list = description.find("files");
  if (list == description.end() || !list->is_array()) refuse_description(name, "\"files\"");
  for (const nlohmann::json& each : *list) {
    const auto file = value_of<std::string>(each, "name");
    const auto bytes = value_of<std::uint64_t>(each, "bytes");
    if (!file || !bytes) refuse_description(name, "\"files\"");
    files.push_back({*file, *bytes});
  }
  return files;
}

}  // namespace

TracedRun read_run(const std::filesystem::path& path) {
  io::TraceReader trace(path);
  const auto description = parsed_json(trace.description(), trace.name());
  if (!description.is_object()) refuse_description(trace.name(), "JSON object");
  const auto seconds = value_of<double>(description, "seconds");
  if (!seconds || !(*seconds > 0 && *seconds < 1e9)) refuse_description(trace.name(), "\"seconds\"");
  std::vector<TracedFile> files = files_of(description, trace.name());
  Survey all = survey(trace, files, *seconds);
  return {trace.name(),
          value_of<std::string>(description, "command").value_or(""),
          value_of<std::string>(description, "started").value_or(""),
          description.value("plan", nlohmann::json()),
          description.value("report", nlohmann::json()),
          description.value("host", nlohmann::json()),
          std::move(files),
          std::move(all)};
}

}  // namespace xorder::cli
