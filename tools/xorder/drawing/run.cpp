// A report as a page: offsets over time, throughput, requests in flight, and latencies.
#include <fmt/format.h>

#include <algorithm>

#include "drawing/page.hpp"
#include "drawing/plot.hpp"
#include "host.hpp"
#include "report/report.hpp"
#include "text/count_text.hpp"
#include "text/json_text.hpp"
#include "text/size_text.hpp"

namespace xorder::cli {
namespace {

using namespace drawing;

constexpr const char* kinds[] = {"read", "written"};

std::vector<std::pair<std::string, std::string>> facts(const TracedRun& run) {
  const Survey& s = run.survey;
  std::vector<std::pair<std::string, std::string>> lines{
      {"run", fmt::format("{}{}", text_of(s.seconds, Unit::seconds),
                          run.started.empty() ? "" : ", begun " + run.started)}};
  const auto passes = value_of<std::uint64_t>(run.plan, "passes"),
             tile = value_of<std::uint64_t>(run.plan, "tile_bytes"),
             source = value_of<std::uint64_t>(run.plan, "source_block_bytes"),
             target = value_of<std::uint64_t>(run.plan, "target_block_bytes"),
             memory = value_of<std::uint64_t>(run.plan, "planned_memory");
  if (passes && tile && source && target && memory) {
    lines.emplace_back("plan", fmt::format("{}, tiles of {}, blocks of {} read and {} written, {} of memory",
                                           count_text(*passes, "pass"), size_text(*tile), size_text(*source),
                                           size_text(*target), size_text(*memory)));
  }
  const auto access = value_of<std::string>(run.report, "access"),
             queue = value_of<std::string>(run.report, "queue");
  if (access && queue) lines.emplace_back("access", fmt::format("{}, by {}", *access, *queue));
  for (auto& line : host_lines(run.host)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> row_of(const std::string& name, const ReadsAndWrites<Count>& count) {
  const auto times = [](const Count& c) { return fmt::format("{}", c.transfers); };
  return {name, size_text(count[0].bytes), times(count[0]), size_text(count[1].bytes), times(count[1])};
}

// A cell with both reads and writes has the colour of the direction that moved more bytes.
Map map_of(const Visits& visits) {
  Map map{{}, visits.columns, visits.rows, {}};
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (!visits.bytes[kind].empty()) map.colours.push_back({kinds[kind], static_cast<int>(kind)});
  }
  map.shades.resize(visits.columns * visits.rows);
  float most = 0;
  for (const auto& cells : visits.bytes) {
    for (const float bytes : cells) most = std::max(most, bytes);
  }
  const auto bytes_at = [&](std::size_t kind, std::size_t i) {
    return visits.bytes[kind].empty() ? 0 : visits.bytes[kind][i];
  };
  for (std::size_t i = 0; i < map.shades.size(); ++i) {
    const float read = bytes_at(0, i), written = bytes_at(1, i), more = std::max(read, written);
    if (!(more > 0)) continue;
    const int level = more >= most / 3 ? 3 : more >= most / 20 ? 2 : 1;
    map.shades[i] =
        static_cast<std::uint8_t>((written > read && !visits.bytes[0].empty() ? Map::levels : 0) + level);
  }
  return map;
}

std::string offsets_figure(const TracedRun& run, std::size_t file) {
  Plot plot({"time", Unit::seconds}, {"offset", Unit::bytes});
  plot.include_x(0);
  plot.include_x(run.survey.seconds);
  plot.include_value(0);
  plot.include_value(static_cast<double>(std::max<std::uint64_t>(run.files[file].bytes, 1)));
  plot.add(map_of(run.survey.visits[file]));
  return plot.svg("Offsets over time", 320);
}

// Plots a value for each span of the run.
std::string over_time(const Survey& survey, const ReadsAndWrites<std::array<double, Survey::spans>>& values,
                      double factor, const Axis& y, std::string_view title) {
  Plot plot({"time", Unit::seconds}, y);
  const double span = survey.seconds / Survey::spans;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (survey.all[kind].transfers == 0) continue;
    Series series{kinds[kind], {static_cast<int>(kind)}, Series::Look::steps, {}};
    for (std::size_t i = 0; i <= Survey::spans; ++i) {
      const double value = values[kind][std::min(i, Survey::spans - 1)] * factor;
      series.points.push_back({span * static_cast<double>(i), value});
    }
    plot.add(std::move(series));
  }
  plot.include_x(0);
  plot.include_x(survey.seconds);
  return plot.svg(title, 240);
}

// Groups of classes of a histogram, from the first that is not empty to the last.
Series histogram_series(const Histogram& histogram, std::size_t kind) {
  constexpr std::size_t together = 10;
  Series series{kinds[kind], {static_cast<int>(kind)}, Series::Look::steps, {}};
  std::size_t end = 0;  // end of the classes that are not empty
  for (std::size_t i = 0; i < histogram.classes(); i += together) {
    std::uint64_t count = 0;
    for (std::size_t j = i; j < std::min(i + together, histogram.classes()); ++j) count += histogram.at(j);
    if (count == 0 && series.points.empty()) continue;
    series.points.push_back({histogram.begin(i), static_cast<double>(count)});
    if (count > 0) end = series.points.size();
  }
  // An empty class ends the last step. There is always one, because the classes go beyond any latency.
  series.points.resize(std::min(end + 1, series.points.size()));
  return series;
}

std::string latency_figure(const Survey& survey) {
  Plot plot({"latency", Unit::seconds, true}, {"requests"});
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (survey.all[kind].transfers > 0) plot.add(histogram_series(survey.latency[kind], kind));
  }
  return plot.svg("Latency of requests", 240);
}

}  // namespace

std::string report_page(const TracedRun& run) {
  const Survey& s = run.survey;
  Page page("The transfers of a run", run.command);
  page.facts(facts(run));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < run.files.size(); ++i) rows.push_back(row_of(run.files[i].name, s.files[i]));
  rows.push_back(row_of("all", s.all));
  page.table({"file", "read", "requests", "written", "requests"}, rows);

  page.heading("Where it was");
  page.text(
      "Each request at its time and place. Darker spots (brighter ones on a dark page) mean more bytes.");
  for (std::size_t i = 0; i < s.visits.size(); ++i) page.figure(run.files[i].name, offsets_figure(run, i));
  if (s.visits.size() < run.files.size()) {
    page.text(fmt::format("{} more files are not drawn.", run.files.size() - s.visits.size()));
  }
  page.heading("How fast");
  page.figure("Bytes per second, of all files. After the last transfer the output is synced.",
              over_time(s, s.moved, Survey::spans / s.seconds, {"throughput", Unit::bytes_per_second},
                        "Throughput over time"));
  page.figure("Requests in flight, averaged over short times.",
              over_time(s, s.in_flight, 1, {"requests in flight"}, "Queue depth over time"));
  page.heading("How long a request takes");
  page.text("From being submitted until the program sees it end, including time in a queue.");
  page.figure("Requests by their latency.", latency_figure(s));
  std::vector<std::vector<std::string>> latencies;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (s.all[kind].transfers == 0) continue;
    const Histogram& latency = s.latency[kind];
    const auto time = [&](double value) { return text_of(value, Unit::seconds); };
    latencies.push_back({kinds[kind], size_text(s.size[kind].quantile(0.5)), time(latency.quantile(0.1)),
                         time(latency.quantile(0.5)), time(latency.quantile(0.9)),
                         time(latency.quantile(0.99)), time(latency.largest())});
  }
  page.table({"", "median size", "10 %", "median", "90 %", "99 %", "longest"}, latencies);
  return page.html();
}

}  // namespace xorder::cli
