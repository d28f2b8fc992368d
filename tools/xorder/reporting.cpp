#include "reporting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checked_option.hpp"
#include "network.hpp"
#include "option_groups.hpp"
#include "progress_bar.hpp"
#include "session.hpp"
#include "standard_streams.hpp"
#include "text/count_text.hpp"
#include "text/json_text.hpp"
#include "text/size_text.hpp"
#include "work/json.hpp"

namespace xorder::cli {
namespace {

nlohmann::json files_json(const std::vector<io::ArrayFile>& files) {
  nlohmann::json all = nlohmann::json::array();
  for (const io::ArrayFile& file : files) all.push_back(work::file_json(file));
  return all;
}

}  // namespace

void Reporting::add_to(CLI::App& command) {
  command.option_defaults()->group(group::reporting);
  CLI::Option* const dry =
      command.add_flag("--dry-run", dry_run, "print the plan, even without room for OUT, and touch nothing");
  command.add_flag("--json", json, "print the report (with --dry-run the plan) as one JSON object");
  command.add_flag("-q,--quiet", quiet, "print nothing unless something fails");
  add_choice<std::optional<bool>>(command, "--progress", bar,
                                  {{"auto", std::nullopt}, {"bar", true}, {"none", false}},
                                  "progress bar on standard error; auto: only on a terminal; default: auto");
  if (session().team != nullptr) return;
  command
      .add_option("--trace", trace, "record every transfer in a file for xorder report; not with --dry-run")
      ->type_name("FILE")
      ->excludes(dry);
}

bool Reporting::shows_bar() const {
  return session().speaks() && bar.value_or(!quiet && ProgressBar::possible());
}

void Reporting::note(const std::string& text) const {
  if (session().speaks() && !quiet && !text.empty())
    tell("{}: note: {}\n", session().program, printable(text));
}

nlohmann::json Reporting::report_json(const work::Work& work, const work::Report& report) {
  nlohmann::json json = work::report_json(work.summary(), report);
  if (const auto* sender = dynamic_cast<const schedule::Sender*>(&work))
    json.update(traffic_json(*sender->traffic()));
  return json;
}

void Reporting::plan(const work::Work& work, const std::vector<io::ArrayFile>& inputs,
                     const std::stop_token& stop) const {
  if (!session().speaks()) return;
  const auto* const sender = dynamic_cast<const schedule::Sender*>(&work);
  const auto traffic = sender != nullptr ? sender->forecast(stop) : std::nullopt;
  if (json) {
    nlohmann::json plan = work::plan_json(work.summary());
    if (traffic) plan.update(traffic_json(*traffic));
    plan["inputs"] = files_json(inputs);
    fmt::print("{}\n", json_text(plan));
  } else {
    fmt::print("{}{}", printable(work.describe()), traffic && traffic->time ? traffic_text(*traffic) : "");
  }
}

void Reporting::report(const work::Work& work, const work::Report& report,
                       const std::vector<io::ArrayFile>& inputs, const std::string& output, bool rest) const {
  if (!session().speaks()) return;
  if (json) {
    nlohmann::json all = report_json(work, report);
    all["inputs"] = files_json(inputs);
    fmt::print("{}\n", json_text(all));
  }
  if (json || quiet) return;
  const auto bytes = static_cast<double>(work.summary().bytes);
  const std::string way =
      report.queue == report.access ? report.queue : fmt::format("{} ({})", report.queue, report.access);
  const std::uint64_t files = work.summary().output_files;
  const std::string made = files == 1 ? output : fmt::format("{} ({} files)", output, files);
  const std::string rate =
      rest ? "" : fmt::format(" {}/s,", size_text(bytes / std::max(report.seconds, 1e-9)));
  tell("{}: {}{} in {:.2f} s,{} {}, {}\n", on_one_line(made), rest ? "the rest of " : "", size_text(bytes),
       report.seconds, rate, count_text(report.passes, "pass"), way);
  const auto* const sender = dynamic_cast<const schedule::Sender*>(&work);
  if (sender == nullptr) return;
  const schedule::Traffic& sent = *sender->traffic();
  if (session().team == nullptr) {
    tell("{}", traffic_text(sent));
  } else {
    tell("{}, {}: {}, {} sent\n", count_text(sent.processors, "rank"), count_text(sent.steps, "round"),
         count_text(sent.messages, "message"), size_text(sent.bytes_moved));
  }
}

}  // namespace xorder::cli
