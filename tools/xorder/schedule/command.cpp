// The command `xorder schedule`: its words and options.
#include "schedule/shown.hpp"

#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "network.hpp"
#include "option_groups.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/timing.hpp"

namespace xorder::cli {
namespace {

struct Output {
  bool check = false;
  bool json = false;
  bool force = false;
  bool contents = false;
  std::optional<std::uint64_t> node;  ///< of --task-matrix
  std::string svg, messages;
  std::optional<schedule::LinkTimes> times;
  double bytes = 1;
  std::vector<const std::string*> made_from;  ///< the files that the schedule was read from, or empty
};

// Adds the times with both kinds of switching, for slots of the given size.
void add_timing(ShownSchedule& shown, const Output& output) {
  const schedule::LinkTimes& times = *output.times;
  const auto time = [&](schedule::Switching switching) {
    return schedule::duration(*shown.schedule, output.bytes, times, switching);
  };
  shown.timing =
      timing_json(times, time(schedule::Switching::store_and_forward), time(schedule::Switching::wormhole));
  shown.timing["message_bytes"] = output.bytes;
}

// Whether a check takes no more than about 0.1 s.
bool checks_quickly(const schedule::Schedule& s) {
  constexpr std::uint64_t most_places = 1 << 20, most_steps = 1 << 20, most_moved = 1 << 21;
  const std::uint64_t nodes = s.network().nodes();
  if (s.steps() > most_steps || (nodes != 0 && s.slots() > most_places / nodes)) return false;
  const schedule::Schedule::Load total = s.total();
  return total.messages + total.crossings <= most_moved;
}

void show(ShownSchedule shown, const Output& output) {
  if (output.contents) show_contents(shown);
  if (output.node) show_task_matrices(shown, *output.node);
  if (output.times) add_timing(shown, output);
  MaybeReport report;
  if (output.check || checks_quickly(*shown.schedule)) report = schedule::check(*shown.schedule);
  require_different_files({{"--svg", output.svg}, {"--messages", output.messages}});
  std::vector<std::filesystem::path> made_from;
  for (const std::string* file : output.made_from)
    if (!file->empty()) made_from.emplace_back(*file);
  // Either can be refused before the other is made.
  std::optional<TextFile> svg, messages;
  if (!output.svg.empty()) svg.emplace(output.svg, output.force, made_from);
  if (!output.messages.empty()) messages.emplace(output.messages, output.force, made_from);
  if (svg) svg->write(schedule_as_svg(shown));
  if (messages) messages->write(messages_as_json_lines(*shown.schedule));
  if (output.json) {
    print_schedule_as_json(shown, report);
  } else if (output.svg.empty() && output.messages.empty()) {
    print_schedule_as_text(shown, report);
  }
  if (report && !report->correct()) throw Error(shown.title + ": " + report->first_fault);
}

// Adds a kind of schedule. `options` has its own options; `make` is called when the line has been parsed.
template <class Options, class Make>
CLI::App* add_kind(CLI::App& parent, const std::string& name, const std::string& description,
                   const std::shared_ptr<Options>& options, Make make, bool has_contents = false,
                   std::vector<const std::string*> made_from = {}) {
  CLI::App* kind = parent.add_subcommand(name, description);
  auto output = std::make_shared<Output>();
  output->made_from = std::move(made_from);
  kind->option_defaults()->group(group::reporting);
  kind->add_flag("--check", output->check,
                 "run the independent checker over all steps; default: if that takes up to 0.1 s");
  kind->add_flag("--json", output->json, "print one JSON object");
  kind->option_defaults()->group(group::output);
  kind->add_option("--svg", output->svg, "draw it into a file, instead of printing it")->type_name("FILE");
  kind->add_option("--messages", output->messages,
                   "write every message into a file as a line of JSON, instead of printing it")
      ->type_name("FILE");
  kind->option_defaults()->group(group::reporting);
  CLI::Option* const times =
      add_network_times(*kind, output->times, "how long it takes")->group(group::reporting);
  kind->add_option_function<std::string>(
          "--message-bytes",
          [output](const std::string& text) {
            output->bytes = static_cast<double>(parse_memory(text, "--message-bytes"));
          },
          "size of a slot, for --network-times; default: 1")
      ->type_name("SIZE")
      ->needs(times);
  kind->add_flag("-f,--force", output->force, "replace the files of --svg and --messages if they exist")
      ->group(group::output);
  if (has_contents) {
    CLI::Option* const contents =
        kind->add_flag("--contents", output->contents, "show what each node holds after each step")
            ->group(group::reporting);
    add_number(
        *kind, "--task-matrix", output->node,
        "show for node S of a hypercube, before each step, which dimensions the words in its slots have "
        "still to cross")
        ->excludes(contents)
        ->type_name("S")
        ->group(group::reporting);
  }
  kind->option_defaults()->group(group::task);  // for the options that the kind adds
  kind->callback([options, output, make] { show(make(*options), *output); });
  return kind;
}

void add_bmmc(CLI::App& parent) {
  auto o = std::make_shared<RoundsOptions>();
  CLI::App* kind = add_kind(parent, "bmmc", "a permutation y = A x ^ c in rounds of whole chunks", o,
                            show_rounds, false, {&o->matrix_file});
  kind->add_option("--by", o->by, "the permutation, as in xorder show; needs --bits")->type_name("EXPR");
  add_number(*kind, "--bits", o->bits, "bits of the index")->type_name("N");
  kind->add_option("--matrix", o->matrix_file, "the permutation's matrix, as in xorder permute")
      ->type_name("FILE");
  kind->add_flag("--factors", o->factors, "print T, R, P, W and V: A = V W, V = A T R P")
      ->group(group::reporting);
  kind->add_flag("--indices", o->indices,
                 "show the layout: which element each processor holds at each place, before and after")
      ->group(group::reporting);
  add_number(*kind, "--processors", o->processors, "number of processors, a power of two")
      ->required()
      ->type_name("P");
  add_layout(*kind, o->layout, "", "the processor's number");
}

void add_exchange(CLI::App& parent) {
  auto o = std::make_shared<ExchangeOptions>();
  CLI::App* kind =
      add_kind(parent, "exchange", "total exchange on a hypercube, with all links busy in all steps", o,
               show_exchange, true, {&o->array_file});
  add_number(*kind, "--dimension", o->dimension, "of the hypercube")->type_name("d");
  add_choice(*kind, "--kind", o->kind, {"transpose", "bitreverse", "one-to-all"},
             "the task; one-to-all is by a balanced tree; default: transpose");
  kind->add_option(
          "--array", o->array_file,
          "instead of --dimension: your own w(i, j), a line of d numbers for each step i, 0 for an idle "
          "link, all decimal or all of d binary digits; tells whether it meets the theorem's conditions")
      ->type_name("FILE");
}

void add_file(CLI::App& parent) {
  auto o = std::make_shared<FileOptions>();
  CLI::App* kind = add_kind(parent, "file", "a schedule of your own: messages as lines of JSON", o, show_file,
                            true, {&o->file, &o->packets});
  kind->add_option("FILE", o->file,
                   "a message in each line, as --messages writes them; docs/schedules.md explains it")
      ->required();
  add_network(*kind, o->network);
  const auto read_task = [o](const std::string& text) {
    (text == "transpose" || text == "bitreverse" ? o->task : o->packets) = text;
  };
  kind->add_option_function<std::string>(
          "--task", read_task,
          "what has to arrive where: transpose, bitreverse, or a file of packets, as for xorder schedule "
          "task; without it only links are checked")
      ->type_name("transpose|bitreverse|FILE");
  add_parsed(*kind, "--slots", "S", o->slots, parse_count,
             "slots of each node; default: one more than the largest that is named");
}

void add_isotropic(CLI::App& parent) {
  auto tags = std::make_shared<std::string>();
  CLI::App* kind =
      add_kind(parent, "isotropic", "packets with the same routing tags at every node of a hypercube", tags,
               [](const std::string& file) { return show_isotropic(file); }, true, {tags.get()});
  kind->add_option("--tags", *tags, "the tags: a line of 0s and 1s for each, dimension 0 first")
      ->required()
      ->type_name("FILE");
}

void add_task(CLI::App& parent) {
  struct Options {
    int dimension = 0;
    std::string packets;
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind =
      add_kind(parent, "task", "any packets from place to place on a hypercube, by search", o,
               [](const Options& g) { return show_task(g.dimension, g.packets); }, true, {&o->packets});
  add_number(*kind, "--dimension", o->dimension, "of the hypercube")->required()->type_name("d");
  kind->add_option("--packets", o->packets,
                   "the packets: a line for each, with its node and slot, and its target node and slot")
      ->required()
      ->type_name("FILE");
}

void add_banded(CLI::App& parent) {
  auto o = std::make_shared<BandedOptions>();
  CLI::App* kind =
      add_kind(parent, "banded", "transposition of a banded matrix on a hypercube", o, show_banded, true);
  add_number(*kind, "--dimension", o->dimension, "of the hypercube, with one column per node")
      ->type_name("d");
  add_parsed(*kind, "--beta", "b[,b..]", o->betas, parse_ints,
             "the band is |i - j| <= 2^b; several matrices at once: a b for each");
  add_number(*kind, "--bandwidth", o->bandwidth, "diagonals in the band")->type_name("B");
  add_number(*kind, "--columns", o->columns, "columns, contiguous on --processors")->type_name("N");
  add_number(*kind, "--processors", o->processors, "nodes of the hypercube, a power of two")->type_name("P");
  add_number(*kind, "--matrices", o->matrices, "number of matrices at once, at most d/b; default: 1")
      ->type_name("k");
  add_choice(
      *kind, "--assignment", o->assignment, {"gray", "binary", "affine"},
      "of columns to nodes: Binary-Gray, binary, or the affine one with the least bound; default: gray");
  add_choice(
      *kind, "--method", o->method, {"best", "closed", "search"},
      "closed: the closed form, for the next larger beta; search: repaired greedy matchings; best: the "
      "closed form if it is optimal or the task is too large, otherwise the better one; default: best");
}

void add_mesh(CLI::App& parent) {
  struct Options {
    std::uint64_t size = 0;
    std::string routing = "any";
    bool torus = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind = add_kind(parent, "mesh", "transposition on an N x N mesh with wormhole switching", o,
                            [](const Options& g) { return show_mesh(g.size, g.routing, g.torus); });
  add_number(*kind, "--size", o->size, "rows of the mesh, and columns")->required()->type_name("N");
  kind->add_option(
          "--routing", o->routing,
          "any: in the fewest steps known; xy: along the row first, in one more at most; two-phase: the "
          "paper's phases of x and y steps, for an even side; recursive: quarters trade places, then "
          "quarters of these, for a side 2^k; default: any")
      ->check(CLI::IsMember(routings()).description(""))
      ->type_name("any|xy|two-phase|recursive");
  kind->add_flag("--torus", o->torus, "rows and columns wrap around; with routing any or xy");
}

// All slots at once, or one alone.
void add_aspc(CLI::App& parent, bool alone) {
  struct Options {
    int dimension = 0;
    std::string half = "both";
    std::optional<int> b;
  };
  auto o = std::make_shared<Options>();
  const auto make = [](const Options& g) { return show_aspc(g.dimension, g.half, g.b); };
  CLI::App* kind =
      alone ? add_kind(parent, "plus-minus", "i to i +- 2^b for all nodes i, alone", o, make, true)
            : add_kind(parent, "aspc", "(i | j) to (i +- 2^j | j) for all nodes i and slots j at once", o,
                       make, true);
  add_number(*kind, "--dimension", o->dimension, "of the hypercube")->required()->type_name("n");
  if (alone) add_number(*kind, "--by", o->b, "the distance is 2^b, 0 <= b < n")->required()->type_name("b");
  add_choice(*kind, "--half", o->half, {"plus", "minus", "both"}, "directions; default: both");
}

void add_descend(CLI::App& parent) {
  struct Options {
    int dimension = 0;
    std::uint64_t per_node = 0;
    bool ascend = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* kind = add_kind(
      parent, "descend", "a[i] = f(a[i], a[i+2^b], a[i-2^b]) for b = lg M - 1 .. 0, pipelined", o,
      [](const Options& g) { return show_descend(g.dimension, g.per_node, g.ascend); }, true);
  add_number(*kind, "--dimension", o->dimension, "of the hypercube")->required()->type_name("n");
  add_number(*kind, "--per-node", o->per_node, "elements per node, a power of two")
      ->required()
      ->type_name("V");
  kind->add_flag("--ascend", o->ascend, "b = 0 .. lg M - 1 instead");
}

}  // namespace

void add_schedule(CLI::App& program) {
  CLI::App* schedule = program.add_subcommand(
      "schedule", "show and check who sends what to whom in a schedule for virtual processors");
  schedule->require_subcommand(1);
  add_bmmc(*schedule);
  add_exchange(*schedule);
  add_file(*schedule);
  add_isotropic(*schedule);
  add_task(*schedule);
  add_banded(*schedule);
  add_mesh(*schedule);
  add_aspc(*schedule, false);
  add_aspc(*schedule, true);
  add_descend(*schedule);
  schedule->footer(
      "Examples:\n"
      "  xorder schedule exchange --dimension 5 --check\n"
      "  xorder schedule bmmc --by bitreverse --bits 8 --processors 8 --layout minor\n"
      "  xorder schedule banded --dimension 4 --beta 2 --svg banded.svg\n"
      "  xorder schedule banded --dimension 7 --bandwidth 35 --check\n"
      "  xorder schedule banded --dimension 6 --beta 1,2,3 --check\n"
      "  xorder schedule banded --dimension 4 --beta 2 --task-matrix 5\n"
      "  xorder schedule mesh --size 9 --routing xy --messages xy.jsonl\n"
      "  xorder schedule file xy.jsonl --network mesh:9 --task transpose --check\n"
      "  xorder schedule mesh --size 9 --torus --check\n"
      "  xorder schedule aspc --dimension 3 --half plus\n"
      "  xorder schedule plus-minus --dimension 4 --by 2\n"
      "  xorder schedule descend --dimension 3 --per-node 8 --check");
}

}  // namespace xorder::cli
