// `xorder schedule --json`: one object, whose long lists are written as they are made.
#include <fmt/format.h>

#include "network.hpp"
#include "schedule/shown.hpp"
#include "text/json_text.hpp"

namespace xorder::cli {
void print_schedule_as_json(const ShownSchedule& shown, const MaybeReport& report) {
  const schedule::Schedule& s = *shown.schedule;
  check_table_size(shown, 100'000'000, "the table would have {} × {} entries, more than 10^8");
  const schedule::Schedule::Load total = s.total();
  nlohmann::ordered_json json;
  json["schedule"] = shown.title;
  json["parameters"] = shown.parameters;
  json["network"] = name_of(s.network().kind());
  json["nodes"] = s.network().nodes();
  json["slots"] = s.slots();
  json["steps"] = shown.steps();
  json["lower_bound"] = shown.has_task ? nlohmann::ordered_json(s.lower_bound()) : nlohmann::ordered_json();
  json["messages"] = total.messages;
  json["crossings"] = total.crossings;
  json["links"] = s.network().links();
  json.update(shown.facts);
  if (!shown.factors.empty()) json["factors"] = factors_as_json(shown.factors);
  if (!shown.timing.is_null()) json["timing"] = shown.timing;
  if (report) {
    json["conflicts"] = report->conflicts;
    json["complete"] = report->complete();
    json["ports_out"] = report->ports_out;
    json["ports_in"] = report->ports_in;
    json["one_port_steps"] = report->one_port_steps;
    json["faults"] = {{"broken", report->broken},
                      {"overwritten", report->overwritten},
                      {"misplaced", report->misplaced},
                      {"miscomputed", report->miscomputed},
                      {"first", report->first_fault}};
  }
  std::string head = json_text(json);
  head.pop_back();  // the object goes on
  fmt::print("{},\"step_crossings\":[", head);
  for (std::uint64_t step = 0; step < s.steps(); ++step)
    fmt::print("{}{}", step ? "," : "", s.load(step).crossings);
  const ScheduleTable& table = shown.table;
  fmt::print("],\"table\":{{\"heading\":{},\"row\":{},\"columns\":{},\"rows\":[",
             nlohmann::json(table.heading).dump(), nlohmann::json(table.row_name).dump(),
             nlohmann::json(table.columns).dump());
  for (std::uint64_t i = 0; i < table.rows; ++i) {
    fmt::print("{}{}", i ? "," : "", nlohmann::json(table.row(i)).dump());
  }
  fmt::print("]}}}}\n");
}

}  // namespace xorder::cli
