#include "work/json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/file.hpp"
#include "work/notes.hpp"
#include "xorder/error.hpp"

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
                      {"output_files", plan.output_files},
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
  json["output_files"] = plan.output_files;
  std::string note = plan.note;
  add_note(note, report.note);
  json["note"] = note;
  return json;
}

std::string option_text(const io::DType& dtype) {
  try {
    const std::string text = dtype.descr.substr(1, dtype.descr.size() - 2);
    if (dtype == io::parse_dtype(text)) return text;
  } catch (const InputError&) {  // fields, or a type of ml_dtypes
  }
  return fmt::format("|V{}", dtype.bytes);
}

const char* order_text(const io::ArrayDescription& array) {
  if (!array.is_contiguous(array.order())) return "strided";
  return array.order() == Order::c ? "C" : "Fortran";
}

nlohmann::json array_json(const io::ArrayDescription& array) {
  return {{"dtype", option_text(array.dtype)},
          {"descr", array.dtype.descr},
          {"element_bytes", array.dtype.bytes},
          {"shape", array.extents},
          {"strides", array.strides},
          {"order", order_text(array)},
          {"offset", array.offset},
          {"bytes", array.bytes()}};
}

nlohmann::json file_json(const io::ArrayFile& array) {
  nlohmann::json json = array_json(array.description);
  json.update({{"path", array.file->name()}, {"format", io::name(array.format)}, {"rest", array.rest}});
  if (array.format != io::Format::npy && array.format != io::Format::raw)
    json.update({{"name", array.member}, {"axes", array.axis_names}, {"note", array.note}});
  return json;
}

nlohmann::json bytes_json(const std::string& text) {
  return std::vector<std::uint8_t>(text.begin(), text.end());
}

std::string text_of(const nlohmann::json& bytes) {
  const auto values = bytes.get<std::vector<std::uint8_t>>();
  return {values.begin(), values.end()};
}

nlohmann::json of_whole_numbers(std::string_view text, std::initializer_list<std::string_view> fractions) {
  using nlohmann::json;
  bool may_have_one = false;
  const auto visit = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key)
      may_have_one = std::ranges::find(fractions, value.get_ref<const std::string&>()) != fractions.end();
    else if (value.is_number_float() && !may_have_one)
      value = nullptr;
    return true;
  };
  return json::parse(text, visit);
}

}  // namespace xorder::work
