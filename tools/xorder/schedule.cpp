// The command `xorder schedule`: its words and options.
#include "schedule.hpp"

#include "commands.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

struct Output {
  bool check = false;
  bool json = false;
  bool force = false;
  std::string svg, messages;
};

void show(const ShownSchedule& shown, const Output& output) {
  MaybeReport report;
  if (output.check) report = schedule::check(*shown.schedule);
  if (!output.svg.empty()) write_text(output.svg, schedule_as_svg(shown), output.force);
  if (!output.messages.empty()) {
    write_text(output.messages, messages_as_json_lines(*shown.schedule), output.force);
  }
  if (output.json) {
    print_schedule_as_json(shown, report);
  } else if (output.svg.empty() && output.messages.empty()) {
    print_schedule_as_text(shown, report);
  }
  if (report && !report->correct()) throw Error(shown.title + ": " + report->first_fault);
}

// CLI11 would take -8 as 2^64 - 8. Returns what is wrong, or nothing.
std::string is_whole_number(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "expected a whole number, found '" + text + "'";
}

// A kind of schedule: its own options are in `Options`, `make` is called when the line has been parsed.
template <class Options, class Make>
CLI::App* add_kind(CLI::App& parent, const std::string& name, const std::string& description,
                   const std::shared_ptr<Options>& options, Make make) {
  CLI::App* kind = parent.add_subcommand(name, description);
  auto output = std::make_shared<Output>();
  kind->add_flag("--check", output->check, "Run the independent checker over all steps");
  kind->add_flag("--json", output->json, "Print one JSON object");
  kind->add_option("--svg", output->svg, "Draw it into a file instead")->type_name("FILE");
  kind->add_option("--messages", output->messages,
                   "Write every message into a file instead, a line of JSON each")
      ->type_name("FILE");
  kind->add_flag("--force", output->force, "Overwrite the files of --svg and --messages if they exist");
  kind->callback([options, output, make] { show(make(*options), *output); });
  return kind;
}

void add_bmmc(CLI::App& parent) {
  struct Options {
    std::string by, layout = "major";
    int bits = 0;
    std::uint64_t processors = 0;
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind =
      add_kind(parent, "bmmc", "A permutation y = A x ^ c in rounds of whole chunks", o,
               [](const Options& g) { return show_rounds(g.by, g.bits, g.processors, g.layout); });
  kind->add_option("--by", o->by, "The permutation, as in 'xorder show'")->required()->type_name("EXPR");
  kind->add_option("--bits", o->bits, "Bits of the index")
      ->required()
      ->type_name("N")
      ->check(CLI::Range(0, 62));
  kind->add_option("--processors", o->processors, "How many, a power of two")
      ->required()
      ->type_name("P")
      ->check(is_whole_number);
  kind->add_option("--layout", o->layout,
                   "The processor number's place in an index: major, minor or its lowest bit")
      ->type_name("major|minor|F");
}

void add_exchange(CLI::App& parent) {
  struct Options {
    int dimension = 0;
    std::string kind = "transpose";
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind = add_kind(parent, "exchange", "Total exchange on a hypercube, all links busy in all steps",
                            o, [](const Options& g) { return show_exchange(g.dimension, g.kind); });
  kind->add_option("--dimension", o->dimension, "Of the hypercube")->required()->type_name("d");
  kind->add_option("--kind", o->kind, "What it performs")->check(CLI::IsMember({"transpose", "bitreverse"}));
}

void add_isotropic(CLI::App& parent) {
  auto tags = std::make_shared<std::string>();
  CLI::App* kind =
      add_kind(parent, "isotropic", "Packets with the same routing tags at every node of a hypercube", tags,
               [](const std::string& file) { return show_isotropic(file); });
  kind->add_option("--tags", *tags, "A line of 0 and 1 for each tag, dimension 0 first")
      ->required()
      ->type_name("FILE");
}

void add_banded(CLI::App& parent) {
  auto o = std::make_shared<BandedOptions>();
  CLI::App* kind =
      add_kind(parent, "banded", "Transposition of a banded matrix on a hypercube", o, show_banded);
  kind->add_option("--dimension", o->dimension, "Of the hypercube, a column a node")->type_name("d");
  kind->add_option("--beta", o->beta, "The band is |i - j| <= 2^b")->type_name("b");
  kind->add_option("--bandwidth", o->bandwidth, "Diagonals in the band")
      ->type_name("B")
      ->check(is_whole_number);
  kind->add_option("--columns", o->columns, "Columns, contiguous on --processors")
      ->type_name("N")
      ->check(is_whole_number);
  kind->add_option("--processors", o->processors, "Nodes of the hypercube, a power of two")
      ->type_name("P")
      ->check(is_whole_number);
  kind->add_option("--matrices", o->matrices, "So many matrices at once, at most d/b")->type_name("k");
  kind->add_option(
          "--assignment", o->assignment,
          "Columns to nodes: Binary-Gray, binary, or the affine one of the least bound; default: gray")
      ->check(CLI::IsMember({"gray", "binary", "affine"}).description(""))
      ->type_name("gray|binary|affine");
  kind->add_option(
          "--method", o->method,
          "closed: the closed form, of the next larger beta; search: repaired greedy matchings;\n"
          "best, the default: the closed form if it is optimal or the task too large, else the better")
      ->check(CLI::IsMember({"best", "closed", "search"}).description(""))
      ->type_name("best|closed|search");
}

void add_mesh(CLI::App& parent) {
  struct Options {
    std::uint64_t size = 0;
    std::string routing = "any";
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind = add_kind(parent, "mesh", "Transposition on an N x N mesh with wormhole switching", o,
                            [](const Options& g) { return show_mesh(g.size, g.routing); });
  kind->add_option("--size", o->size, "Rows, and columns, of the mesh")
      ->required()
      ->type_name("N")
      ->check(is_whole_number);
  kind->add_option("--routing", o->routing, "Paths that may be taken")->check(CLI::IsMember({"any", "xy"}));
}

void add_aspc(CLI::App& parent) {
  struct Options {
    int dimension = 0;
    std::string half = "both";
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind = add_kind(parent, "aspc", "(i | j) to (i +- 2^j | j) for all nodes i and slots j at once",
                            o, [](const Options& g) { return show_aspc(g.dimension, g.half); });
  kind->add_option("--dimension", o->dimension, "Of the hypercube")->required()->type_name("n");
  kind->add_option("--half", o->half, "Directions")->check(CLI::IsMember({"plus", "minus", "both"}));
}

void add_descend(CLI::App& parent) {
  struct Options {
    int dimension = 0;
    std::uint64_t per_node = 0;
    bool ascend = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind =
      add_kind(parent, "descend", "a[i] = f(a[i], a[i+2^b], a[i-2^b]) for b = lg M - 1 .. 0, pipelined", o,
               [](const Options& g) { return show_descend(g.dimension, g.per_node, g.ascend); });
  kind->add_option("--dimension", o->dimension, "Of the hypercube")->required()->type_name("n");
  kind->add_option("--per-node", o->per_node, "Elements a node, a power of two")
      ->required()
      ->type_name("V")
      ->check(is_whole_number);
  kind->add_flag("--ascend", o->ascend, "b = 0 .. lg M - 1 instead");
}

}  // namespace

void add_schedule(CLI::App& program) {
  CLI::App* schedule = program.add_subcommand(
      "schedule", "Show who sends what to whom in a schedule for virtual processors, and check it");
  schedule->require_subcommand(1);
  add_bmmc(*schedule);
  add_exchange(*schedule);
  add_isotropic(*schedule);
  add_banded(*schedule);
  add_mesh(*schedule);
  add_aspc(*schedule);
  add_descend(*schedule);
  schedule->footer(
      "Examples:\n"
      "  xorder schedule exchange --dimension 5 --check\n"
      "  xorder schedule bmmc --by bitreverse --bits 8 --processors 8 --layout minor\n"
      "  xorder schedule banded --dimension 4 --beta 2 --svg banded.svg\n"
      "  xorder schedule banded --dimension 7 --bandwidth 35 --check\n"
      "  xorder schedule mesh --size 9 --routing xy --json\n"
      "  xorder schedule aspc --dimension 3 --half plus\n"
      "  xorder schedule descend --dimension 3 --per-node 8 --check");
}

}  // namespace xorder::cli
