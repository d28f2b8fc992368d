#include "schedule_options.hpp"

#include "arguments.hpp"
#include "checked_option.hpp"
#include "network_option.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "xorder/band/transposition.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::cli {

const std::map<std::string, schedule::Mesh::Routing>& routings() {
  using Routing = schedule::Mesh::Routing;
  static const std::map<std::string, Routing> all = {{"any", Routing::any},
                                                     {"xy", Routing::xy},
                                                     {"two-phase", Routing::two_phase},
                                                     {"recursive", Routing::recursive}};
  return all;
}

void ScheduleOptions::add_to(CLI::App& command, const std::string& possible) {
  if (session().team != nullptr) return;  // only the tile engine works in a team
  command
      .add_option(
          "--schedule", schedule_,
          "who moves the data: the tile engine, or virtual processors that follow a schedule; all give the "
          "same output, and tiles is the fastest; default: tiles")
      ->check(CLI::IsMember({"tiles", "rounds", "exchange", "mesh", "banded"}).description(""))
      ->type_name(possible)
      ->group(group::how);
  command
      .add_option("--processors", processors_,
                  "virtual processors: 2^d, or N^2 for a mesh; default: 16, or as many as needed")
      ->type_name("P")
      ->group(group::how);
  add_layout(command, layout_, "rounds: ", "its processor's number")->group(group::how);
  add_network(command, network_, "how long the messages between virtual processors take")
      ->group(group::reporting);
  if (possible.find("mesh") == std::string::npos) return;
  command
      .add_option(
          "--routing", routing_,
          "mesh: paths of messages: any, in the fewest steps known; along the row first (xy), in one more; "
          "the paper's two phases, for an even side; or the recursive exchange, for a side 2^k; default: any")
      ->check(CLI::IsMember(routings()).description(""))
      ->type_name("any|xy|two-phase|recursive")
      ->group(group::how);
  command.add_flag("--torus", torus_, "mesh: rows and columns wrap around; with --routing any or xy")
      ->group(group::how);
}

std::optional<std::uint64_t> ScheduleOptions::processors() const {
  if (processors_.empty()) return std::nullopt;
  return parse_count(processors_, "--processors");
}

void ScheduleOptions::check() const {
  if (schedule_ == "tiles" && !processors_.empty()) {
    throw InputError("--processors: schedule tiles has no virtual processors; use another --schedule");
  }
  if (schedule_ == "tiles" && !network_.empty()) {
    throw InputError("--network: schedule tiles sends no messages; use another --schedule");
  }
  if (schedule_ != "mesh" && !routing_.empty()) throw InputError("--routing is for --schedule mesh");
  if (schedule_ != "mesh" && torus_) throw InputError("--torus is for --schedule mesh");
  if (schedule_ != "rounds" && !layout_.empty()) throw InputError("--layout is for --schedule rounds");
}

work::Options ScheduleOptions::options(const Request& request) const {
  work::Options options = request.options;
  options.link_times = link_times(network_);
  return options;
}

std::unique_ptr<work::Work> ScheduleOptions::work(const Request& request,
                                                  const std::vector<Band>& bands) const {
  check();
  if (schedule_ == "tiles") {
    return std::make_unique<band::BandTransposition>(request.inputs, bands, request.output, request.options);
  }
  if (schedule_ != "banded") {
    throw InputError("--schedule " + schedule_ + ": for bands use tiles or banded");
  }
  return machine::scheduled_bands(request.inputs, bands, request.output, options(request), processors());
}

std::unique_ptr<work::Work> ScheduleOptions::work(const Request& request, const Reordering& what,
                                                  std::vector<std::uint64_t> extents) const {
  check();
  if (request.parts)
    return session().work_on_parts(request.input(), what, std::move(extents), request.output, request.options,
                                   request.lowest_part_bit);
  if (schedule_ == "banded") throw InputError("--schedule banded: only for transpose --banded KL,KU");
  if (schedule_ == "tiles") {
    return std::make_unique<tiles::Job>(request.input(), what, std::move(extents), request.output,
                                        request.options, session().team);
  }
  using Kind = machine::ScheduleChoice::Kind;
  machine::ScheduleChoice choice;
  choice.kind = schedule_ == "rounds" ? Kind::rounds : schedule_ == "exchange" ? Kind::exchange : Kind::mesh;
  choice.processors = processors();
  if (!routing_.empty()) choice.routing = routings().at(routing_);
  choice.torus = torus_;
  choice.layout = parse_layout(layout_, "--layout");
  return machine::scheduled(request.input(), what, std::move(extents), request.output, options(request),
                            choice);
}

}  // namespace xorder::cli
