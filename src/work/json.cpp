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

nlohmann::json traffic_json(const Traffic& traffic) {
  nlohmann::json json{{"schedule", traffic.schedule},   {"processors", traffic.processors},
                      {"steps", traffic.steps},         {"messages", traffic.messages},
                      {"crossings", traffic.crossings}, {"bytes_moved", traffic.bytes_moved}};
  if (traffic.time) {
    const NetworkTime& time = *traffic.time;
    json["timing"] = timing_json(time.times, time.store_and_forward, time.wormhole);
    json["timing"]["runs"] = time.runs;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json timing_json(const schedule::LinkTimes& times,
                                   const schedule::Duration& store_and_forward,
                                   const schedule::Duration& wormhole) {
  const auto both = [](const schedule::Duration& time) {
    return nlohmann::ordered_json{{"lock_step", time.lock_step}, {"asynchronous", time.asynchronous}};
  };
  return {{"startup", times.startup},
          {"per_hop", times.per_link},
          {"per_byte", times.per_byte},
          {"ports", times.one_port ? "one" : "all"},
          {"store_and_forward", both(store_and_forward)},
          {"wormhole", both(wormhole)}};
}

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
                      {"access", plan.access},
                      {"note", plan.note},
                      {"tile_bytes", first.tile_bytes},
                      {"source_block_bytes", first.source_block_bytes},
                      {"target_block_bytes", first.target_block_bytes},
                      {"pass_list", nlohmann::json::array()}};
  for (const PassSummary& pass : plan.passes) json["pass_list"].push_back(pass_json(pass));
  if (plan.traffic) json.update(traffic_json(*plan.traffic));
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
  if (report.traffic) json.update(traffic_json(*report.traffic));
  return json;
}

}  // namespace xorder::work
