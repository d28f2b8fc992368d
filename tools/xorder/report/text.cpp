// A report as text and as JSON.
#include <fmt/format.h>

#include "text/count_text.hpp"
#include "drawing/scale.hpp"
#include "report/report.hpp"
#include "text/size_text.hpp"
#include "standard_streams.hpp"

namespace xorder::cli {
namespace {

double mean_in_flight(const Survey& survey) {
  double sum = 0;
  for (const auto& kind : survey.in_flight) {
    for (const double value : kind) sum += value;
  }
  return sum / Survey::spans;
}

std::string line_of(const char* what, const Count& count, const Histogram& size, const Histogram& latency,
                    double seconds) {
  if (count.transfers == 0) return {};
  const auto time = [](double value) { return drawing::text_of(value, drawing::Unit::seconds); };
  const double bytes = static_cast<double>(count.bytes);
  return fmt::format("{}  {} in {} of {} (median), {}/s; latency {} median, {} of 99%, {} at most\n", what,
                     size_text(bytes), count_text(count.transfers, "request"), size_text(size.quantile(0.5)),
                     size_text(bytes / seconds), time(latency.quantile(0.5)), time(latency.quantile(0.99)),
                     time(latency.largest()));
}

nlohmann::json latency_json(const Histogram& latency) {
  return {{"median", latency.quantile(0.5)},
          {"p90", latency.quantile(0.9)},
          {"p99", latency.quantile(0.99)},
          {"largest", latency.largest()}};
}

}  // namespace

std::string report_text(const TracedRun& run) {
  const Survey& s = run.survey;
  std::string text = fmt::format("{}\n{}, {:.1f} transfers in flight on average\n", printable(run.command),
                                 drawing::text_of(s.seconds, drawing::Unit::seconds), mean_in_flight(s));
  text += line_of("read   ", s.all[0], s.size[0], s.latency[0], s.seconds);
  text += line_of("written", s.all[1], s.size[1], s.latency[1], s.seconds);
  for (std::size_t i = 0; i < run.files.size(); ++i) {
    text += fmt::format("  {}: {} read, {} written\n", printable(run.files[i].name),
                        size_text(s.files[i][0].bytes), size_text(s.files[i][1].bytes));
  }
  return text;
}

nlohmann::json report_json(const TracedRun& run) {
  const Survey& s = run.survey;
  nlohmann::json json{{"command", run.command},
                      {"seconds", s.seconds},
                      {"reads", s.all[0].transfers},
                      {"writes", s.all[1].transfers},
                      {"bytes_read", s.all[0].bytes},
                      {"bytes_written", s.all[1].bytes},
                      {"partial", s.partial},
                      {"in_flight", mean_in_flight(s)},
                      {"read_latency", latency_json(s.latency[0])},
                      {"write_latency", latency_json(s.latency[1])},
                      {"files", nlohmann::json::array()}};
  for (std::size_t i = 0; i < run.files.size(); ++i) {
    const auto& [read, written] = s.files[i];
    json["files"].push_back({{"path", run.files[i].name},
                             {"bytes", run.files[i].bytes},
                             {"reads", read.transfers},
                             {"writes", written.transfers},
                             {"bytes_read", read.bytes},
                             {"bytes_written", written.bytes}});
  }
  return json;
}

}  // namespace xorder::cli
