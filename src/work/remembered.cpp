#include "work/remembered.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/file.hpp"
#include "work/frame.hpp"
#include "work/json.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json input_json(const io::ArrayFile& input) {
  const io::ArrayDescription& a = input.description;
  json pieces = json::array();
  for (const ElementPiece& piece : a.pieces) pieces.push_back({piece.offset, piece.bytes, piece.reversed});
  return {{"path", bytes_json(fs::absolute(input.path).string())},
          {"format", static_cast<int>(input.format)},
          {"member", bytes_json(input.member)},
          {"element_bytes", a.dtype.bytes},
          {"descr", bytes_json(a.dtype.descr)},
          {"extents", a.extents},
          {"strides", a.strides},
          {"offset", a.offset},
          {"pieces", std::move(pieces)}};
}

// An .npy file is as good as a raw one whose array is known. The headers of others tell what the output gets.
io::ArrayFile reopened(const json& input, const std::string& path) {
  const std::string member = text_of(input.at("member"));
  const io::Format kind{input.at("format").get<int>()};
  const bool plain = kind == io::Format::npy || kind == io::Format::raw;
  io::ArrayFile array =
      plain ? io::open_raw_array(path, {.dtype = io::DType{}, .extents = {}, .ignore_rest = true})
            : io::open_array(member.empty() ? path : path + ':' + member);
  io::ArrayDescription a{.dtype = {input.at("element_bytes"), text_of(input.at("descr"))},
                         .extents = input.at("extents"),
                         .strides = input.at("strides"),
                         .offset = input.at("offset")};
  for (const json& piece : input.at("pieces")) a.pieces.push_back({piece.at(0), piece.at(1), piece.at(2)});
  io::check_layout(a, array.stamp.size, path);
  array.format = kind;
  array.description = std::move(a);
  array.rest = 0;
  return array;
}

}  // namespace

std::string job_text(const Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents) {
  const Options& o = frame.options;
  const fs::path scratch = o.scratch_directory.empty() ? fs::path() : fs::absolute(o.scratch_directory);
  json inputs = json::array();
  for (const io::ArrayFile& input : frame.inputs) inputs.push_back(input_json(input));
  json job{{"inputs", std::move(inputs)},
           {"element_bytes", what.element_bytes},
           {"source_extents", what.extents},
           {"order", what.order},
           {"extents", extents},
           {"memory", o.memory},
           {"threads", o.threads},
           {"access", static_cast<int>(o.access)},
           {"scratch_directory", bytes_json(scratch.string())},
           {"output_offset", o.output_offset},
           {"output_order", static_cast<int>(o.output_order)},
           {"compact_header", o.compact_header},
           {"dataset", bytes_json(o.dataset)},
           {"overwrite", o.overwrite},
           {"resumable", o.resumable}};
  if (what.mapped)
    job["map"] = {
        {"axis", *what.mapped}, {"columns", what.map.matrix.columns()}, {"complement", what.map.complement}};
  return job.dump();
}

Remembered remembered(const Journal& journal, const std::string& output) {
  if (journal.job.empty())
    throw InputError(
        fmt::format("{}: nothing but the same command, or the same job, goes on with this run", output));
  try {
    const json job = of_whole_numbers(journal.job);
    Remembered all{
        .inputs = {},
        .what = {job.at("element_bytes"), job.at("source_extents"), job.at("order"), std::nullopt, {}},
        .extents = job.at("extents"),
        .options = {.memory = job.at("memory"),
                    .threads = job.at("threads"),
                    .access = AccessChoice{job.at("access").get<int>()},
                    .device = journal.setting.device,
                    .scratch_directory = text_of(job.at("scratch_directory")),
                    .output_offset = job.at("output_offset"),
                    .output_order = Order{job.at("output_order").get<int>()},
                    .compact_header = job.at("compact_header"),
                    .dataset = text_of(job.at("dataset")),
                    .overwrite = job.at("overwrite"),
                    .resumable = job.at("resumable")}};
    if (job.contains("map")) {
      const json& map = job["map"];
      const std::vector<gf2::Word> columns = map.at("columns");
      all.what.mapped = map.at("axis");
      all.what.map = {{static_cast<int>(columns.size()), columns}, map.at("complement")};
    }
    for (const json& input : job.at("inputs"))
      all.inputs.push_back(reopened(input, journal.in_place ? output : text_of(input.at("path"))));
    return all;
  } catch (const json::exception&) {
    throw InputError(fmt::format(
        "{}: its run was begun by another version of xorder; the same command goes on with it", output));
  }
}

io::ArrayFile as_begun(io::ArrayFile file) {
  const std::optional<Journal> journal = read_journal(file.path);
  if (!journal || !journal->in_place || journal->job.empty()) return file;
  const io::ArrayFile before = remembered(*journal, file.path.string()).inputs.at(0);
  file.format = before.format;
  file.description = before.description;
  return file;
}

}  // namespace xorder::work
