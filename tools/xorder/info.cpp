#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arguments.hpp"
#include "commands.hpp"
#include "io/container/container.hpp"
#include "moving_files.hpp"
#include "option_groups.hpp"
#include "standard_streams.hpp"
#include "text/count_text.hpp"
#include "text/json_text.hpp"
#include "text/size_text.hpp"
#include "work/json.hpp"

namespace xorder::cli {

namespace {

using work::array_json, work::file_json, work::option_text, work::order_text;

template <typename Number>
std::string tuple_text(const std::vector<Number>& numbers) {
  return fmt::format("({}{})", fmt::join(numbers, ", "), numbers.size() == 1 ? "," : "");
}

void print_contents(const std::string& path, const io::Contents& contents, bool json) {
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const io::ContainedArray& array : contents.arrays) {
      nlohmann::json item = nlohmann::json::object();
      if (array.refusal.empty()) {
        item = array_json(array.description());
      } else if (array.dtype) {
        item = {{"dtype", option_text(*array.dtype)}, {"shape", array.extents}};
      }
      item.update({{"name", array.name},
                   {"aliases", array.aliases},
                   {"axes", array.axis_names},
                   {"storage", array.storage},
                   {"usable", array.refusal.empty()},
                   {"note", array.refusal.empty() ? array.note : array.refusal}});
      list.push_back(std::move(item));
    }
    fmt::print("{}\n",
               json_text(nlohmann::json{
                   {"path", path}, {"format", io::name(contents.format)}, {"arrays", std::move(list)}}));
    return;
  }
  fmt::print("format  {}\n", io::name(contents.format));
  for (const io::ContainedArray& array : contents.arrays) {
    std::vector<std::string> said;
    if (array.dtype) {
      said.push_back(fmt::format("{} {}", array.dtype->descr, tuple_text(array.extents)));
      if (!array.axis_names.empty())
        said.push_back(fmt::format("axes {}", fmt::join(array.axis_names, ", ")));
    }
    if (array.refusal.empty()) {
      const io::ArrayDescription d = array.description();
      const std::string order = d.is_contiguous(d.order()) ? fmt::format("{} order, ", order_text(d)) : "";
      said.push_back(fmt::format("{}offset {}, {}", order, d.offset, array.storage));
    }
    if (!array.refusal.empty()) said.push_back("cannot be read: " + array.refusal);
    if (array.refusal.empty() && !array.note.empty()) said.push_back(array.note);
    const std::string alias = array.aliases.empty() ? "" : fmt::format(" ({})", array.aliases.front());
    fmt::print("array   {}\n",
               on_one_line(fmt::format("{}{}: {}", array.name, alias, fmt::join(said, "; "))));
  }
}

}  // namespace

void add_info(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "info", "show what a file holds: type, shape, order, offset; the arrays of a FITS, NetCDF, .. file");
  command->footer(
      "Examples:\n"
      "  xorder info a.npy\n"
      "  xorder info cube.fits                                         lists its arrays\n"
      "  xorder info cube.fits:1\n"
      "  xorder info a.raw --dtype f8 --shape 16384,32768 --json");
  struct Options {
    std::string file;
    ArrayOptions raw;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "the file to examine, or FILE:NAME for an array in it")
      ->required();
  options->raw.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object")->group(group::reporting);
  command->callback([options] {
    if (!options->raw.given()) {
      if (const auto contents = io::contents(options->file))
        return print_contents(options->file, *contents, options->json);
    }
    const io::ArrayFile array = options->raw.open(options->file);
    const io::ArrayDescription& d = array.description;
    const std::uint64_t bytes = checked_bytes(d.shape());
    if (options->json) {
      nlohmann::json json = file_json(array);
      json["path"] = options->file;
      fmt::print("{}\n", json_text(json));
      return;
    }
    fmt::print("format  {}\ndtype   {} ({})\nshape   {}\norder   {}\n", io::name(array.format), d.dtype.descr,
               count_text(d.dtype.bytes, "byte"), tuple_text(d.extents), order_text(d));
    if (!d.is_contiguous(d.order())) fmt::print("strides {}\n", tuple_text(d.strides));
    fmt::print("offset  {}\nbytes   {} ({})\n", d.offset, bytes, size_text(bytes));
    if (!array.axis_names.empty())
      fmt::print("axes    {}\n", on_one_line(fmt::format("{}", fmt::join(array.axis_names, ", "))));
    if (!array.note.empty()) fmt::print("note    {}\n", on_one_line(array.note));
    if (array.rest != 0)
      fmt::print("rest    {} behind the array, which are left out\n", count_text(array.rest, "byte"));
  });
}

}  // namespace xorder::cli
