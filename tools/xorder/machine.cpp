// The command `xorder machine`: the commands that move data, by virtual processors.
#include "arguments.hpp"
#include "checked_option.hpp"
#include "commands.hpp"
#include "network.hpp"
#include "option_groups.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"

namespace xorder::cli {
namespace {

class VirtualProcessors final : public Engine {
 public:
  /// `possible`: the schedules that can do what the command does, separated by |, for its help.
  explicit VirtualProcessors(std::string possible) : possible_(std::move(possible)) {}

  void add_frame(CLI::App& command, MovingCommand::Make make, const OtherFiles& others) override {
    OtherFiles files = others;
    files.texts.push_back(&array_);
    Engine::add_frame(command, std::move(make), files);
  }
  void add_to(CLI::App& command) override;

 private:
  std::unique_ptr<work::Work> reordering(const Request& request, const Reordering& what,
                                         std::vector<std::uint64_t> extents) const override;
  std::unique_ptr<work::Work> bands(const Request& request, const std::vector<Band>& bands) const override;
  void check() const;

  std::string possible_, schedule_, array_;
  machine::ScheduleChoice choice_;
  std::optional<schedule::LinkTimes> times_;
  const CLI::Option *layout_ = nullptr, *routing_ = nullptr;
};

void VirtualProcessors::add_to(CLI::App& command) {
  Engine::add_to(command);
  command.option_defaults()->group(group::machine);
  command
      .add_option("--schedule", schedule_,
                  "what the virtual processors follow; all give the same output as the command without them")
      ->check(CLI::IsMember({"rounds", "exchange", "mesh", "banded"}).description(""))
      ->type_name(possible_)
      ->required();
  add_parsed(command, "--processors", "P", choice_.processors, parse_count,
             "virtual processors: 2^d, or N^2 for a mesh; default: 16, or as many as needed");
  layout_ = add_layout(command, choice_.layout, "rounds: ", "its processor's number");
  command
      .add_option("--array", array_,
                  "exchange: your own w(i, j), as in xorder schedule exchange; for 2^d virtual processors")
      ->type_name("FILE");
  add_network_times(command, times_);
  if (possible_.find("mesh") == std::string::npos) return;
  const auto read = [this](const std::string& name) { choice_.routing = routings().at(name); };
  routing_ =
      command
          .add_option_function<std::string>(
              "--routing", read,
              "mesh: paths of messages: any, in the fewest steps known; along the row first (xy), in one "
              "more at most; the paper's two phases, for an even side; or the recursive exchange, for a "
              "side 2^k; default: any")
          ->check(CLI::IsMember(routings()).description(""))
          ->type_name("any|xy|two-phase|recursive");
  command.add_flag("--torus", choice_.torus, "mesh: rows and columns wrap around; with --routing any or xy");
}

void VirtualProcessors::check() const {
  const bool routed = routing_ != nullptr && routing_->count() > 0;
  if (schedule_ != "mesh" && routed) throw InputError("--routing is for --schedule mesh");
  if (schedule_ != "mesh" && choice_.torus) throw InputError("--torus is for --schedule mesh");
  if (schedule_ != "rounds" && layout_->count() > 0) throw InputError("--layout is for --schedule rounds");
  if (schedule_ != "exchange" && !array_.empty()) throw InputError("--array is for --schedule exchange");
}

std::unique_ptr<work::Work> VirtualProcessors::bands(const Request& request,
                                                     const std::vector<Band>& bands) const {
  check();
  if (schedule_ != "banded") throw InputError("--schedule " + schedule_ + ": for bands use banded");
  return machine::scheduled_bands(request.inputs, bands, request.output, request.options, choice_.processors,
                                  times_);
}

std::unique_ptr<work::Work> VirtualProcessors::reordering(const Request& request, const Reordering& what,
                                                          std::vector<std::uint64_t> extents) const {
  check();
  if (request.joining) throw InputError("--stack and --concatenate: not by virtual processors");
  if (request.options.split) throw InputError("--split: not by virtual processors");
  if (schedule_ == "banded") throw InputError("--schedule banded: only for transpose --banded KL,KU");
  using Kind = machine::ScheduleChoice::Kind;
  machine::ScheduleChoice choice = choice_;
  choice.kind = schedule_ == "rounds" ? Kind::rounds : schedule_ == "exchange" ? Kind::exchange : Kind::mesh;
  if (!array_.empty()) choice.array = read_exchange_array(array_);
  return machine::scheduled(request.input(), what, std::move(extents), request.output, request.options,
                            choice, times_);
}

struct RunOptions {
  std::string schedule;
  std::optional<schedule::Network> network;
  std::optional<schedule::LinkTimes> times;
  std::optional<std::uint64_t> slots;
};

void add_run(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("run", "move the blocks of a file by a schedule of your own, as it is");
  const auto o = std::make_shared<RunOptions>();
  command
      ->add_option("SCHEDULE", o->schedule,
                   "a message in each line, as in xorder schedule file; it must stand its check")
      ->required();
  command->option_defaults()->group(group::machine);
  add_network_times(*command, o->times);
  add_network(*command, o->network);
  add_parsed(*command, "--slots", "S", o->slots, parse_count,
             "slots of each node; default: one more than the largest that is named");
  const auto make = [o](const Request& request) -> std::unique_ptr<work::Work> {
    auto listed =
        std::make_shared<const schedule::Listed>(read_schedule(o->schedule, *o->network, {}, o->slots));
    return machine::scheduled_slots(request.input(), std::move(listed), request.output, request.options,
                                    o->times);
  };
  MovingCommand::add_to(*command, make, {.texts = {&o->schedule}});
  command->footer(
      "IN is P blocks of S equal slots, as they lie in the file, for P nodes of the network; OUT has the\n"
      "slots as the schedule leaves them. What no message replaces stays.\n"
      "Examples:\n"
      "  xorder machine run trades.jsonl a.npy b.npy --network hypercube:2\n"
      "  xorder machine run trades.jsonl a.npy b.npy --network hypercube:2 --slots 8   of 8 slots each");
}

}  // namespace

void add_machine(CLI::App& program) {
  CLI::App* machine = program.add_subcommand(
      "machine", "the commands that move data, by virtual processors that follow a schedule");
  machine->footer(
      "The output is that of the command without them, which is faster; run is for schedules of your own.\n"
      "This is for studying schedules: a run tells what the virtual processors sent. xorder schedule prints\n"
      "and checks them.");
  machine->require_subcommand(1);
  const auto by = [](const char* possible) { return std::make_shared<VirtualProcessors>(possible); };
  add_transpose(*machine, by("rounds|exchange|mesh|banded"))
      ->footer(
          "Examples:\n"
          "  xorder machine transpose a.npy b.npy --schedule mesh --processors 16   by 4 x 4 virtual "
          "processors\n"
          "  xorder machine transpose a.npy b.npy --schedule mesh --network-times 5,2,0.5   how long "
          "messages take\n"
          "  xorder machine transpose rows.npy t.npy --banded 1,2 --band-order rows --schedule banded");
  add_bitreverse(*machine, by("rounds|exchange"))
      ->footer(
          "The axis must have 2^n elements. With --schedule exchange it must be the whole array, not a "
          "batch.\n"
          "Examples:\n"
          "  xorder machine bitreverse signal.raw reversed.raw --dtype c16 --schedule exchange\n"
          "  xorder machine bitreverse signal.npy reversed.npy --schedule rounds       every row of a "
          "matrix");
  add_permute(*machine, by("rounds|exchange|mesh"))
      ->footer(
          "EXPR is explained by xorder permute --help.\n"
          "Examples:\n"
          "  xorder machine permute a.npy z.npy --by 'morton(2)' --schedule rounds --processors 64\n"
          "  xorder machine permute a.npy b.npy --by 'gray^-1' --schedule rounds --layout minor");
  add_descend_command(*machine, true);
  add_run(*machine);
}

}  // namespace xorder::cli
