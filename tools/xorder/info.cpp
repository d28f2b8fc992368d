#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arguments.hpp"
#include "commands.hpp"
#include "count_text.hpp"
#include "json_text.hpp"
#include "moving_files.hpp"
#include "option_groups.hpp"
#include "size_text.hpp"

namespace xorder::cli {

namespace {

// The type as --dtype takes it. Others, such as structured types, become |V and their size.
std::string option_text(const io::DType& dtype) {
  try {
    const std::string text = dtype.descr.substr(1, dtype.descr.size() - 2);
    if (dtype == io::parse_dtype(text)) return text;
  } catch (const InputError&) {  // fields, or a type of ml_dtypes
  }
  return fmt::format("|V{}", dtype.bytes);
}

}  // namespace

void add_info(CLI::App& program) {
  CLI::App* command = program.add_subcommand("info", "show what a file holds: type, shape, order, offset");
  command->footer(
      "Examples:\n"
      "  xorder info a.npy\n"
      "  xorder info a.raw --dtype f8 --shape 16384,32768 --json");
  struct Options {
    std::string file;
    ArrayOptions raw;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "the file to examine")->required();
  options->raw.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object")->group(group::reporting);
  command->callback([options] {
    const io::ArrayFile array = options->raw.open(options->file);
    const io::ArrayDescription& d = array.description;
    const std::uint64_t bytes = checked_bytes(d.shape());
    const char* order = !d.is_contiguous(d.order()) ? "strided" : d.order() == Order::c ? "C" : "Fortran";
    if (options->json) {
      const nlohmann::json json{{"path", options->file},
                                {"format", io::name(array.format)},
                                {"dtype", option_text(d.dtype)},
                                {"descr", d.dtype.descr},
                                {"element_bytes", d.dtype.bytes},
                                {"shape", d.extents},
                                {"strides", d.strides},
                                {"order", order},
                                {"offset", d.offset},
                                {"bytes", bytes},
                                {"rest", array.rest}};
      fmt::print("{}\n", json_text(json));
      return;
    }
    const char* const comma = d.extents.size() == 1 ? "," : "";
    fmt::print("format  {}\ndtype   {} ({})\nshape   ({}{})\norder   {}\n", io::name(array.format),
               d.dtype.descr, count_text(d.dtype.bytes, "byte"), fmt::join(d.extents, ", "), comma, order);
    if (!d.is_contiguous(d.order())) fmt::print("strides ({}{})\n", fmt::join(d.strides, ", "), comma);
    fmt::print("offset  {}\nbytes   {} ({})\n", d.offset, bytes, size_text(bytes));
    if (array.rest != 0)
      fmt::print("rest    {} behind the array, which are left out\n", count_text(array.rest, "byte"));
  });
}

}  // namespace xorder::cli
