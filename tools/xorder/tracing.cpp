#include "tracing.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "host.hpp"
#include "invocation.hpp"
#include "io/output.hpp"
#include "text/json_text.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

namespace fs = std::filesystem;

const fs::path& checked(const fs::path& path, bool overwrite, std::span<const io::ArrayFile> inputs,
                        const fs::path& output) {
  require_different_files({{"OUT", output}, {"--trace", path}});
  for (const io::ArrayFile& input : inputs) {
    for (const auto& file : {input.file, input.header})
      if (file) io::Output::check(path, 0, overwrite, *file);
  }
  return path;
}

}  // namespace

Tracing::Tracing(const fs::path& path, bool overwrite, std::span<const io::ArrayFile> inputs,
                 const fs::path& output)
    : output_(output),
      started_(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))),
      trace_(checked(path, overwrite, inputs, output), overwrite) {}

void Tracing::commit(const nlohmann::json& plan, const nlohmann::json& report) {
  const fs::path directory = output_.has_parent_path() ? output_.parent_path() : fs::path(".");
  nlohmann::json description{{"version", XORDER_VERSION},
                             {"command", invocation()},
                             {"started", started_},
                             {"seconds", trace_.seconds()},
                             {"files", nlohmann::json::array()},
                             {"plan", plan},
                             {"report", report},
                             {"host", describe_host(directory)}};
  for (const io::Trace::Traced& file : trace_.files()) {
    description["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"writable", file.writable}});
  }
  trace_.commit(json_text(description));
}

}  // namespace xorder::cli
