// The command `xorder descend`: computations of the ±2^b-descend class.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "moving.hpp"
#include "network_option.hpp"
#include "option_groups.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled_descend.hpp"

namespace xorder::cli {
namespace {

// Who computes: the sweeps, or the machine of virtual processors.
struct Way {
  std::string schedule = "sweeps", processors, network;
};

std::unique_ptr<work::Work> job(const Request& request, std::unique_ptr<descend::Computation> what,
                                const io::DType& element, std::vector<std::uint64_t> extents,
                                const Way& way) {
  plan::SweepSizes sizes;
  if (!way.processors.empty()) {
    sizes.processors = parse_count(way.processors, "--processors");
  }
  if (way.schedule != "sweeps") {
    using machine::DescendSchedule;
    work::Options options = request.options;
    options.link_times = link_times(way.network);
    return machine::scheduled_descend(
        request.inputs, std::move(what), element, extents, request.output, options,
        way.schedule == "aspc" ? DescendSchedule::aspc : DescendSchedule::pipelined, sizes);
  }
  if (!way.network.empty())
    throw InputError("--network: schedule sweeps sends no messages; use aspc or pipelined");
  return std::make_unique<descend::DescendJob>(request.inputs, std::move(what), element, std::move(extents),
                                               request.output, request.options, sizes);
}

// A whole number of any length, modulo 2^64.
std::uint64_t parse_distance(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    throw InputError(fmt::format("--by: '{}' is not a whole number", text));
  std::uint64_t value = 0;
  for (const char digit : digits) value = 10 * value + static_cast<std::uint64_t>(digit - '0');
  return negative ? -value : value;
}

// `make` is called with the user's request. `add_own` adds the command's own options.
template <typename Make>
void add_kind(
    CLI::App& parent, const std::string& name, const std::string& description, const std::string& footer,
    Make make, const std::function<void(CLI::App&)>& add_own = [](CLI::App&) {},
    std::vector<std::string> more_inputs = {}) {
  CLI::App* kind = parent.add_subcommand(name, description);
  kind->footer(footer);
  add_own(*kind);
  const auto way = std::make_shared<Way>();
  MovingCommand::add_to(*kind, [=](const Request& request) { return make(request, *way); },
                        {.inputs = std::move(more_inputs)});
  add_choice(
      *kind, "--schedule", way->schedule, {"sweeps", "aspc", "pipelined"},
      "sweeps over the file; or P virtual processors, which send each other parts of their blocks over "
      "the links of a hypercube, by ASPC or by Hu's pipeline (record by record if memory holds the file "
      "twice, and 35 records on their way for each processor): the same output, but slower; default: "
      "sweeps")
      ->group(group::how);
  kind->add_option(
          "--processors", way->processors,
          "number of blocks of the file, a power of two; default: as few as the memory allows; with virtual "
          "processors 16, or more if that is faster")
      ->type_name("P")
      ->group(group::how);
  add_network(*kind, way->network, "how long the messages between virtual processors take")
      ->group(group::reporting);
}

void add_shift(CLI::App& parent) {
  const auto by = std::make_shared<std::string>();
  add_kind(
      parent, "shift", "cyclic shift, like numpy.roll",
      "Examples:\n"
      "  xorder descend shift a.npy b.npy --by 1          element i goes to i + 1, the last one to 0\n"
      "  xorder descend shift a.raw b.raw --dtype V24 --by=-1000\n"
      "  xorder descend shift a.npy b.npy --by=-4096 --schedule aspc      over the links of a hypercube",
      [by](const Request& request, const Way& way) {
        const io::ArrayDescription& in = request.array();
        return job(request, descend::cyclic_shift(in.dtype.bytes, parse_distance(*by)), in.dtype, in.extents,
                   way);
      },
      [by](CLI::App& kind) {
        kind.add_option("--by", *by, "how far, any whole number; negative: towards the beginning")
            ->required()
            ->type_name("K")
            ->group(group::task);
      });
}

void add_scan(CLI::App& parent) {
  const auto operation = std::make_shared<std::string>("sum");
  add_kind(
      parent, "scan", "inclusive prefix, like numpy.cumsum, cumprod, minimum.accumulate, ..",
      "The result has the type of the input (integers wrap around) and one axis. Numbers are not added in\n"
      "NumPy's order, so floating-point sums differ in the last digits. This is an example of the class,\n"
      "with lg M additions per element in two passes; a scan by itself needs one addition and one pass.\n"
      "Examples:\n"
      "  xorder descend scan a.npy sums.npy\n"
      "  xorder descend scan a.raw largest.raw --dtype f4 --op max --memory 256MiB",
      [operation](const Request& request, const Way& way) {
        const io::ArrayDescription& in = request.array();
        return job(request, descend::prefix(in.dtype, *operation), in.dtype, {in.elements()}, way);
      },
      [operation](CLI::App& kind) {
        add_choice(kind, "--op", *operation, {"sum", "prod", "min", "max", "xor"},
                   "the operation; xor for integers and bool only; default: sum")
            ->group(group::task);
      });
}

void add_merge(CLI::App& parent) {
  add_kind(parent, "merge", "merge two sorted halves of a file into one sorted file (odd-even merge)",
           "Numbers only, in ascending order, without NaN. The result has one axis.\n"
           "Example:\n"
           "  xorder descend merge halves.npy sorted.npy",
           [](const Request& request, const Way& way) {
             const io::ArrayFile& in = request.input();
             return job(
                 request,
                 descend::odd_even_merge(in.description.dtype, in.path.string(), request.array().elements()),
                 in.description.dtype, {request.array().elements()}, way);
           });
}

void add_tridiagonal(CLI::App& parent) {
  add_kind(
      parent, "tridiagonal", "solve a tridiagonal system by parallel cyclic reduction",
      "Row i is A[i] x[i-1] + B[i] x[i] + C[i] x[i+1] = D[i]; OUT is x. A[0] and the last of C are not "
      "used.\n"
      "All four are f4, or all f8. There is no pivoting: use it for matrices that need none, such as\n"
      "diagonally dominant ones. A scratch file (--tmpdir) holds four numbers per row between the passes.\n"
      "Example:\n"
      "  xorder descend tridiagonal sub.npy main.npy super.npy right.npy x.npy",
      [](const Request& request, const Way& way) {
        const std::vector<io::ArrayFile>& in = request.inputs;
        return job(request, descend::cyclic_reduction({in[0], in[1], in[2], in[3]}), in[3].description.dtype,
                   in[3].description.extents, way);
      },
      [](CLI::App&) {}, {"B", "C", "D"});
}

}  // namespace

void add_descend_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "descend", "shift, prefix sums, merge, tridiagonal systems: computations that combine i with i +- 2^b");
  command->footer(
      "Computations of the form  for b = n-1 .. 0: a[i] = f_b(a[i], a[i + 2^b], a[i - 2^b])  on 2^n "
      "elements,\n"
      "or with b upwards (Hu, IPPS/SPDP 1998), on files larger than memory. They take two reads and two\n"
      "writes of the file, more with little memory, one of each if the file is small. Elements of many\n"
      "MiB need more memory: the error says how much. For your own f_b use the library\n"
      "(xorder/descend/descend.hpp). These commands are examples, not the fastest way: a scan by\n"
      "itself needs one pass.");
  command->require_subcommand(1);
  add_shift(*command);
  add_scan(*command);
  add_merge(*command);
  add_tridiagonal(*command);
}

}  // namespace xorder::cli
