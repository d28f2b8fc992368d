// resume, rollback, status and discard: what becomes of a run with --resumable or --in-place that has not
// ended.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "commands.hpp"
#include "interrupt.hpp"
#include "invocation.hpp"
#include "moving.hpp"
#include "session.hpp"
#include "standard_streams.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"
#include "tiles/state_json.hpp"
#include "work/journal.hpp"
#include "work/resuming.hpp"
#include "xorder/error.hpp"
#include "xorder/tiles/resume.hpp"

namespace xorder::cli {
namespace {

// A run that was no command.
void go_on_without_words(const std::string& output, InPlace how) {
  const Interrupt interrupt;
  const Reporting reporting;
  const auto work = how == InPlace::resume ? resume(output) : roll_back(output);
  reporting.note(work->summary().note);
  const work::Report report = run_with_bar(*work, reporting, output, interrupt.token());
  reporting.note(report.note);
  reporting.report(*work, report, {}, output, true);
}

void go_on(const std::string& output, InPlace how) {
  const work::Journal journal = work::unfinished(output, how == InPlace::roll_back);
  if (journal.words.empty()) return go_on_without_words(output, how);
  session().in_place = how;
  std::filesystem::current_path(journal.directory);
  session().next = journal.words;
}

void status(const std::string& output, bool json) {
  const RunState run = state_of_run(output);
  if (json) {
    std::cout << tiles::state_json(output, run) << '\n';
    return;
  }
  std::string text = fmt::format("{}: {} of {} read and written", output, size_text(run.bytes_done),
                                 size_text(run.bytes_total));
  if (run.running) {
    text += fmt::format(" at its last checkpoint; process {} is running", run.process);
    if (run.rate > 0)
      text += fmt::format(", {}/s, about {} left", size_text(static_cast<std::uint64_t>(run.rate)),
                          seconds_text(static_cast<double>(run.bytes_total - run.bytes_done) / run.rate));
  } else {
    text += run.complete ? "; the output is complete"
            : run.in_place
                ? "; nothing is running: `xorder resume` finishes it, `xorder rollback` restores it"
                : "; nothing is running: `xorder resume` goes on";
  }
  std::cout << printable(text) << '\n';
}

}  // namespace

void add_resume(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("resume", "go on with a run that was begun with --resumable or --in-place");
  command->footer(
      "It does what the command line of the run says, from the directory where it was given. So does that\n"
      "command line itself. What it has finished is not done again.\n"
      "Examples:\n"
      "  xorder transpose a.npy b.npy --resumable      if this was killed,\n"
      "  xorder resume b.npy                           this goes on with it");
  const auto output = std::make_shared<std::string>();
  command->add_option("OUT", *output, "the output of the run")->required();
  command->callback([output] { go_on(*output, InPlace::resume); });

  command =
      program.add_subcommand("rollback", "restore a file that a run with --in-place has left half done");
  command->footer(
      "It puts back what has been moved, with the options of the run. It may be killed, too, and begun "
      "again;\n"
      "xorder resume FILE finishes the run instead.\n"
      "Examples:\n"
      "  xorder transpose --in-place a.npy             if this was killed,\n"
      "  xorder rollback a.npy                         a.npy is as it was before");
  command->add_option("FILE", *output, "the file")->required();
  command->callback([output] { go_on(*output, InPlace::roll_back); });

  command = program.add_subcommand("status", "show how far a run with --resumable or --in-place has come");
  const auto json = std::make_shared<bool>(false);
  command->add_option("OUT", *output, "the output of the run")->required();
  command->add_flag("--json", *json, "print it as one JSON object");
  command->callback([output, json] { status(*output, *json); });

  command =
      program.add_subcommand("discard", "remove the files of a run with --resumable that has not ended");
  command->add_option("OUT", *output, "the output of the run")->required();
  command->callback([output] { discard_run(*output); });
}

}  // namespace xorder::cli
