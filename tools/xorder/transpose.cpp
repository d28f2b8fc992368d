#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arguments.hpp"
#include "band_options.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "option_groups.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

// Axes by their numbers, or by names that the file has for them.
std::vector<int> axis_numbers(const std::vector<std::string>& axes, const Request& request) {
  std::vector<std::string> names = request.input().axis_names;
  if (request.joining && request.joining->stacked) names.clear();  // there is one axis more
  const auto number = [&](const std::string& axis) {
    const auto found = std::ranges::find(names, axis);
    if (found == names.end()) return parse_int(axis, "--axes");
    if (std::find(found + 1, names.end(), axis) != names.end())
      throw InputError(fmt::format("--axes: several axes are named {}; use their numbers", axis));
    return static_cast<int>(found - names.begin());
  };
  std::vector<int> numbers;
  try {
    for (const std::string& axis : axes) numbers.push_back(number(axis));
  } catch (const InputError& error) {
    if (names.empty()) throw;
    throw InputError(fmt::format("{}; the file's axes are {}", error.what(), fmt::join(names, ", ")));
  }
  return numbers;
}

}  // namespace

CLI::App* add_transpose(CLI::App& parent, std::shared_ptr<Engine> engine) {
  CLI::App* command =
      parent.add_subcommand("transpose", "transpose a matrix, or reorder the axes of an N-d array");
  command->footer(
      "Options that say which array IN is apply in this order: field, order or strides, shape, select, byte\n"
      "order, stack or concatenate; then the axes; then those of OUT: out-shape, split, out-order.\n"
      "Examples:\n"
      "  xorder transpose a.npy b.npy                                  reverses the axes: a matrix's "
      "transposition\n"
      "  xorder transpose video.npy planes.npy --axes 3,0,1,2          as numpy.transpose(a, (3, 0, 1, 2))\n"
      "  xorder transpose a.raw b.raw --dtype f8 --shape 16384,32768 --memory 2GiB\n"
      "  xorder transpose a.npy c.npy --axes 0,1                       from Fortran order (column-major) to "
      "C order\n"
      "  xorder transpose a.raw c.raw --axes 0,1 --dtype f8 --shape 16384,32768 --order F   a raw file\n"
      "  xorder transpose image.npy left.npy --axes 1,0,2 --select ':, ::-1'   a quarter turn\n"
      "  xorder transpose video.npy 'frame.%04d.npy' --axes 0,1,2,3 --split 0   a file for each frame\n"
      "  xorder transpose ab.npy t.npy --banded 1,2 --band-order diagonals   SciPy's ab with l, u = 1, 2");
  const auto axes = std::make_shared<std::optional<std::vector<std::string>>>();
  add_parsed(*command, "--axes", "I,J,..", *axes, parse_words,
             "axis i of OUT is axis AXES[i] of IN, by number or name; default: reversed")
      ->group(group::task);
  const auto band = std::make_shared<BandStorageOptions>();
  const CLI::Option* const banded = band->add_to(*command);
  const auto make = [axes, band, engine](const Request& request) {
    if (band->given()) {
      if (request.joining)
        throw InputError("--stack and --concatenate: not with --banded, which has its own rule");
      if (*axes) throw InputError("--axes: not with --banded, which transposes the matrix");
      return engine->work(request, band->bands(request.inputs));
    }
    const std::vector<int> order = *axes ? axis_numbers(**axes, request) : std::vector<int>{};
    return engine->work(request, request.transposition(order),
                        transposed_extents(request.array().shape(), order));
  };
  engine->add_frame(*command, make, {.several_with = banded, .joins = true});
  engine->add_to(*command);
  return command;
}

}  // namespace xorder::cli
