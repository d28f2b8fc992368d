// The command `xorder descend`: computations of the ±2^b-descend class.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "moving.hpp"
#include "network.hpp"
#include "option_groups.hpp"
#include "tiles/shift.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled_descend.hpp"

namespace xorder::cli {
namespace {

using machine::DescendSchedule;

// Who computes: the sweeps or, with a schedule, virtual processors.
struct Way {
  std::optional<DescendSchedule> schedule;
  std::optional<schedule::LinkTimes> times;
  plan::SweepSizes sizes;

  void add_to(CLI::App& kind, bool by_machine);
  std::unique_ptr<work::Work> work(const Request& request, std::unique_ptr<descend::Computation> what,
                                   const io::DType& element, std::vector<std::uint64_t> extents) const;
};

void Way::add_to(CLI::App& kind, bool by_machine) {
  kind.option_defaults()->group(by_machine ? group::machine : group::tuning);
  const std::string few = by_machine ? "16, or more if that is faster" : "as few as the memory allows";
  add_parsed(kind, "--processors", "P", sizes.processors, parse_count,
             "number of blocks of the file, a power of two; default: " + few);
  if (!by_machine) return;
  add_choice<std::optional<DescendSchedule>>(
      kind, "--schedule", schedule,
      {{"aspc", DescendSchedule::aspc}, {"pipelined", DescendSchedule::pipelined}},
      "how virtual processors send each other parts of their blocks over the links of a hypercube: by ASPC "
      "or by Hu's pipeline (record by record if memory holds the file twice, and 35 records on their way "
      "for each processor); the output is that of the command without them")
      ->required();
  add_network_times(kind, times);
}

std::unique_ptr<work::Work> Way::work(const Request& request, std::unique_ptr<descend::Computation> what,
                                      const io::DType& element, std::vector<std::uint64_t> extents) const {
  if (!schedule)
    return std::make_unique<descend::DescendJob>(request.inputs, std::move(what), element, std::move(extents),
                                                 request.output, request.options, sizes);
  return machine::scheduled_descend(request.inputs, std::move(what), element, extents, request.output,
                                    request.options, *schedule, sizes, times);
}

// A whole number of any length, as text.
std::string parse_distance(const std::string& text, const std::string& what) {
  const std::string digits = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    throw InputError(fmt::format("{}: '{}' is not a whole number", what, text));
  return text;
}

// Modulo `count`, which is below 2^63; 0 if that is 0.
std::uint64_t distance_within(std::uint64_t count, const std::string& distance) {
  if (count == 0) return 0;
  unsigned __int128 value = 0;
  for (const char digit : distance)
    if (digit >= '0') value = (10 * value + static_cast<unsigned>(digit - '0')) % count;
  return static_cast<std::uint64_t>(distance.starts_with('-') ? (count - value) % count : value);
}

// A family of commands: `xorder descend` or `xorder machine descend`.
struct Family {
  CLI::App& parent;
  bool by_machine;
};

// `make` is called with the user's request. `add_own` adds the command's own options.
template <typename Make>
void add_kind(
    const Family& family, const std::string& name, const std::string& description, const std::string& footer,
    Make make, const std::function<void(CLI::App&)>& add_own = [](CLI::App&) {},
    std::vector<std::string> more_inputs = {}) {
  CLI::App* kind = family.parent.add_subcommand(name, description);
  if (!family.by_machine) kind->footer(footer);
  add_own(*kind);
  const auto way = std::make_shared<Way>();
  MovingCommand::add_to(*kind, [=](const Request& request) { return make(request, *way); },
                        {.inputs = std::move(more_inputs)});
  way->add_to(*kind, family.by_machine);
}

void add_shift(const Family& family) {
  const auto by = std::make_shared<std::string>();
  add_kind(
      family, "shift", "cyclic shift, like numpy.roll",
      "Examples:\n"
      "  xorder descend shift a.npy b.npy --by 1          element i goes to i + 1, the last one to 0\n"
      "  xorder descend shift a.raw b.raw --dtype V24 --by=-1000\n"
      "2^n elements move by the steps of the class; any other number as two ranges that change places.",
      [by](const Request& request, const Way& way) {
        const io::ArrayDescription& in = request.array();
        const std::uint64_t distance = distance_within(in.elements(), *by);
        if (!std::has_single_bit(in.elements()) && !way.schedule) {
          if (way.sizes.processors != 0) throw InputError("--processors: only for 2^n elements");
          return tiles::shift(request.input(), distance, request.output, request.options);
        }
        return way.work(request, descend::cyclic_shift(in.dtype.bytes, distance), in.dtype, in.extents);
      },
      [by](CLI::App& kind) {
        add_parsed(kind, "--by", "K", *by, parse_distance,
                   "how far, any whole number; negative: towards the beginning")
            ->required()
            ->group(group::task);
      });
}

void add_scan(const Family& family) {
  const auto operation = std::make_shared<std::string>("sum");
  add_kind(
      family, "scan", "inclusive prefix, like numpy.cumsum, cumprod, minimum.accumulate, ..",
      "The result has the type of the input (integers wrap around) and one axis. Numbers are not added in\n"
      "NumPy's order, so floating-point sums differ in the last digits. This is an example of the class,\n"
      "with lg M additions per element in two passes; a scan by itself needs one addition and one pass.\n"
      "Any number of elements will do: behind the last one, nothing is read or written.\n"
      "Examples:\n"
      "  xorder descend scan a.npy sums.npy\n"
      "  xorder descend scan a.raw largest.raw --dtype f4 --op max --memory 256MiB",
      [operation](const Request& request, const Way& way) {
        const io::ArrayDescription& in = request.array();
        return way.work(request, descend::prefix(in.dtype, *operation), in.dtype, {in.elements()});
      },
      [operation](CLI::App& kind) {
        add_choice(kind, "--op", *operation, {"sum", "prod", "min", "max", "xor"},
                   "the operation; xor for integers and bool only; default: sum")
            ->group(group::task);
      });
}

void add_merge(const Family& family) {
  add_kind(family, "merge", "merge two sorted halves of a file into one sorted file (odd-even merge)",
           "Numbers only, in ascending order, without NaN. The result has one axis.\n"
           "Example:\n"
           "  xorder descend merge halves.npy sorted.npy",
           [](const Request& request, const Way& way) {
             const io::ArrayFile& in = request.input();
             return way.work(
                 request,
                 descend::odd_even_merge(in.description.dtype, in.path.string(), request.array().elements()),
                 in.description.dtype, {request.array().elements()});
           });
}

void add_tridiagonal(const Family& family) {
  add_kind(
      family, "tridiagonal", "solve a tridiagonal system by parallel cyclic reduction",
      "Row i is A[i] x[i-1] + B[i] x[i] + C[i] x[i+1] = D[i]; OUT is x. A[0] and the last of C are not "
      "used.\n"
      "All four are f4, or all f8. There is no pivoting: use it for matrices that need none, such as\n"
      "diagonally dominant ones. A scratch file (--tmpdir) holds four numbers per row between the passes.\n"
      "Example:\n"
      "  xorder descend tridiagonal sub.npy main.npy super.npy right.npy x.npy",
      [](const Request& request, const Way& way) {
        const std::vector<io::ArrayFile>& in = request.inputs;
        return way.work(request, descend::cyclic_reduction({in[0], in[1], in[2], in[3]}),
                        in[3].description.dtype, in[3].description.extents);
      },
      [](CLI::App&) {}, {"B", "C", "D"});
}

}  // namespace

void add_descend_command(CLI::App& parent, bool by_machine) {
  CLI::App* command = parent.add_subcommand(
      "descend", "shift, prefix sums, merge, tridiagonal systems: computations that combine i with i +- 2^b");
  if (by_machine) {
    command->footer(
        "xorder descend and its kinds have help that explains the computations.\n"
        "Example:\n"
        "  xorder machine descend shift a.npy b.npy --by=-4096 --schedule aspc   over the links of a "
        "hypercube");
  } else {
    command->footer(
        "Computations of the form  for b = n-1 .. 0: a[i] = f_b(a[i], a[i + 2^b], a[i - 2^b])  on 2^n "
        "elements\n"
        "(shift and scan: any number), or with b upwards (Hu, IPPS/SPDP 1998), on files larger than memory. "
        "They take two reads and two\n"
        "writes of the file, more with little memory, one of each if the file is small. Elements of many\n"
        "MiB need more memory: the error says how much. For your own f_b use the library\n"
        "(xorder_job_descend() in C, xorder/descend/descend.hpp in C++). These commands are examples, not "
        "the\n"
        "fastest way: a scan by itself needs one pass.");
  }
  command->require_subcommand(1);
  const Family family{*command, by_machine};
  add_shift(family);
  add_scan(family);
  add_merge(family);
  add_tridiagonal(family);
}

}  // namespace xorder::cli
