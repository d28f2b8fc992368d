// `xorder schedule` for a terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/shown.hpp"
#include "standard_streams.hpp"
#include "text/count_text.hpp"
#include "text/text_width.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using std::uint64_t;

void print_right(const std::string& text, std::size_t width) {
  fmt::print("{:{}}{}", "", width - std::min(width, width_of(text)), text);
}

std::string field(const nlohmann::json& value) {
  return value.is_null() ? "." : value.is_string() ? value.get<std::string>() : value.dump();
}

// Columns are as wide as their widest field, so the rows are made twice rather than kept in memory.
void print_table(const ScheduleTable& table) {
  if (table.rows == 0 || table.columns.empty()) return;
  std::vector<std::size_t> widths;
  for (const std::string& name : table.columns) widths.push_back(width_of(name));
  for (uint64_t i = 0; i < table.rows; ++i) {
    const auto row = table.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], width_of(field(row[j])));
  }
  const std::size_t first = std::max(width_of(table.row_name), std::to_string(table.rows - 1).size());
  fmt::print("{}\n\n", table.heading);
  print_right(table.row_name, first + 2);
  for (std::size_t j = 0; j < widths.size(); ++j) print_right(table.columns[j], widths[j] + 2);
  fmt::print("\n");
  for (uint64_t i = 0; i < table.rows; ++i) {
    print_right(std::to_string(i), first + 2);
    const auto row = table.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) print_right(field(row[j]), widths[j] + 2);
    fmt::print("\n");
  }
  fmt::print("\n");
}

// The text for a value of the schedule's own facts.
std::string words_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// One line, such as "steps 0 to 7: 100 %, 24 of 24 links", for consecutive steps that use equally many links.
void print_utilisation(const schedule::Schedule& s, std::size_t width) {
  const uint64_t links = s.network().links();
  constexpr int most_lines = 200;
  int lines = 0;
  for (uint64_t step = 0; step < s.steps();) {
    const uint64_t crossings = s.load(step).crossings;
    const uint64_t first = step;
    while (step < s.steps() && s.load(step).crossings == crossings) ++step;
    if (++lines > most_lines) {
      fmt::print("{:{}}.. and so on; --json has all of them\n", "", width);
      return;
    }
    const double percent =
        links == 0 ? 0 : 100.0 * static_cast<double>(crossings) / static_cast<double>(links);
    fmt::print(
        "{:{}}{}: {:.4g} %, {} of {} links\n", lines == 1 ? "utilisation" : "", width,
        step == first + 1 ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, step - 1),
        percent, crossings, links);
  }
}

void print_report(const schedule::CheckReport& report, bool has_task, std::size_t width) {
  if (report.correct()) {
    fmt::print("{:{}}{}no link is used twice in a step{}\n", "checked", width,
               has_task ? "every message arrives, nothing is lost, " : "",
               has_task ? "" : "; without --task nothing has to arrive");
    fmt::print("{:{}}{}: a node sends up to {} in a step and receives up to {}", "ports", width,
               report.ports(), count_text(report.ports_out, "message"), report.ports_in);
    fmt::print("{}\n", report.ports() > 1
                           ? fmt::format("; {} with one port", count_text(report.one_port_steps, "step"))
                           : "");
    return;
  }
  fmt::print(
      "{:{}}WRONG: {}\n{:{}}{} conflicts, {} broken paths, {} overwritten, {} misplaced, {} miscomputed\n",
      "checked", width, report.first_fault, "", width, report.conflicts, report.broken, report.overwritten,
      report.misplaced, report.miscomputed);
}

void print_timing(const nlohmann::ordered_json& timing) {
  fmt::print(
      "\n{:18}{:>14}{:>14}\n",
      fmt::format("time, {} port{}", timing["ports"].get<std::string>(), timing["ports"] == "one" ? "" : "s"),
      "lock step", "asynchronous");
  for (const char* switching : {"store_and_forward", "wormhole"}) {
    const auto& time = timing[switching];
    fmt::print("{:18}{:>14.6g}{:>14.6g}\n", words_of(std::string(switching)), time["lock_step"].get<double>(),
               time["asynchronous"].get<double>());
  }
}

}  // namespace

std::string ShownSchedule::steps_text() const {
  return count_text(steps(), "step") +
         (has_task ? fmt::format(", at least {}", schedule->lower_bound()) : "");
}

std::string schedule_as_svg(const ShownSchedule& shown) {
  if (shown.drawing) return shown.drawing(shown);
  drawing::SchedulePicture picture = shown;
  picture.length = shown.steps_text();
  return drawing::draw(*shown.schedule, picture);
}

void check_table_size(const ShownSchedule& shown, uint64_t most_entries, std::string_view complaint) {
  const ScheduleTable& table = shown.table;
  if (!table.columns.empty() && table.rows > most_entries / table.columns.size()) {
    throw InputError(fmt::format(fmt::runtime(complaint), table.rows, table.columns.size()));
  }
}

void print_schedule_as_text(const ShownSchedule& shown, const MaybeReport& report) {
  check_table_size(shown, 10'000'000,
                   "the table would have {} × {} entries, more than 10^7; print it with --json to a file");
  const schedule::Schedule& s = *shown.schedule;
  fmt::print("{}\n{}\n\n", printable(shown.title), printable(shown.summary));
  print_table(shown.table);
  for (const auto& [name, matrix] : shown.factors) {
    fmt::print("{}\n\n", fmt::join(as_lines(name, matrix), "\n"));
  }
  const schedule::Schedule::Load total = s.total();
  std::size_t width = 14;
  for (const auto& [name, value] : shown.facts.items()) width = std::max(width, name.size() + 2);
  const auto line = [width](const std::string& name, const std::string& value) {
    fmt::print("{:{}}{}\n", name, width, value);
  };
  line("steps", std::to_string(shown.steps()));
  const bool reached = report && report->correct() && shown.steps() == s.lower_bound();
  line("lower bound", shown.has_task ? fmt::format("{}{}", s.lower_bound(), reached ? ", reached" : "")
                                     : "unknown without --task");
  for (const auto& [name, value] : shown.facts.items()) line(words_of(name), words_of(value));
  line("messages", std::to_string(total.messages));
  line("crossings", std::to_string(total.crossings));
  line("links", std::to_string(s.network().links()));
  print_utilisation(s, width);
  if (report) {
    print_report(*report, shown.has_task, width);
  } else {
    line("checked", "no; --check does it");
  }
  if (!shown.timing.is_null()) print_timing(shown.timing);
}

}  // namespace xorder::cli
