// The command `xorder report`.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "text/json_text.hpp"
#include "option_groups.hpp"
#include "report/report.hpp"
#include "text_file.hpp"

namespace xorder::cli {

void add_report(CLI::App& program) {
  CLI::App* command = program.add_subcommand("report", "show a run's transfers, from its --trace");
  command->footer(
      "Examples:\n"
      "  xorder transpose a.npy b.npy --trace run.trace\n"
      "  xorder report run.trace\n"
      "  xorder report run.trace --html run.html");
  struct Options {
    std::string trace, html;
    bool json = false, force = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("TRACE", options->trace, "the file written by --trace")->required();
  command->add_option("--html", options->html, "draw everything on one page")
      ->type_name("FILE")
      ->group(group::output);
  command->add_flag("-f,--force", options->force, "replace the page if it exists")->group(group::output);
  command->add_flag("--json", options->json, "print one JSON object")->group(group::reporting);
  command->callback([options] {
    const TracedRun run = read_run(options->trace);
    if (!options->html.empty()) write_text(options->html, report_page(run), options->force, {options->trace});
    fmt::print("{}", options->json ? json_text(report_json(run)) + "\n" : report_text(run));
  });
}

}  // namespace xorder::cli
