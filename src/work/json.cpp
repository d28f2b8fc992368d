#include "work/json.hpp"

#include "work/notes.hpp"

namespace xorder::work {
namespace {

nlohmann::json pass_json(const PassSummary& pass) {
  return {{"tiles", pass.tiles},
          {"tile_bytes", pass.tile_bytes},
          {"source_block_bytes", pass.source_block_bytes},
          {"target_block_bytes", pass.target_block_bytes},
          {"memory", pass.memory},
          {"predicted_seconds", pass.predicted_seconds}};
}

}  // namespace

// Blocks and tiles at the top level are those of the first pass. `pass_list` has all passes.
nlohmann::json plan_json(const Summary& plan) {
  const PassSummary first = plan.passes.empty() ? PassSummary{} : plan.passes.front();
  nlohmann::json json{{"passes", plan.passes.size()},
                      {"bytes", plan.bytes},
                      {"bytes_read", plan.bytes_read},
                      {"bytes_written", plan.bytes_written},
                      {"scratch_bytes", plan.scratch_bytes},
                      {"memory", plan.memory},
                      {"planned_memory", plan.peak_memory()},
                      {"predicted_seconds", plan.predicted_seconds()},
                      {"device", plan.device},
                      {"fresh_memory_rate", plan.fresh_memory_rate},
                      {"access", plan.access},
                      {"note", plan.note},
                      {"tile_bytes", first.tile_bytes},
                      {"source_block_bytes", first.source_block_bytes},
                      {"target_block_bytes", first.target_block_bytes},
                      {"pass_list", nlohmann::json::array()}};
  for (const PassSummary& pass : plan.passes) json["pass_list"].push_back(pass_json(pass));
  return json;
}

nlohmann::json report_json(const Summary& plan, const Report& report) {
  nlohmann::json json{{"passes", report.passes},         {"queue", report.queue},
                      {"access", report.access},         {"bytes", plan.bytes},
                      {"bytes_read", report.bytes_read}, {"bytes_written", report.bytes_written},
                      {"reads", report.reads},           {"writes", report.writes},
                      {"seconds", report.seconds},       {"predicted_seconds", plan.predicted_seconds()},
                      {"memory", plan.memory},           {"peak_memory", report.peak_memory}};
  std::string note = plan.note;
  add_note(note, report.note);
  json["note"] = note;
  return json;
}

}  // namespace xorder::work
