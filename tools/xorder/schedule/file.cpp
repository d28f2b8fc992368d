// `xorder schedule file`: a schedule that the user brings.
#include <fmt/format.h>

#include "network.hpp"
#include "schedule/shown.hpp"
#include "xorder/schedule/listed.hpp"

namespace xorder::cli {
namespace {

using std::uint64_t;

std::optional<schedule::Task> task_of(const FileOptions& o) {
  if (o.task == "transpose") return schedule::transposition_task(*o.network);
  if (o.task == "bitreverse") return schedule::bit_reversal_task(*o.network);
  if (o.packets.empty()) return {};
  return schedule::any_task(read_packets(o.packets), *o.network);
}

ScheduleTable loads_table(const schedule::Schedule& s) {
  return {"messages between nodes, and uses of links",
          "step",
          {"messages", "crossings"},
          s.steps(),
          [&s](uint64_t step) {
            const schedule::Schedule::Load load = s.load(step);
            return std::vector<nlohmann::json>{load.messages, load.crossings};
          }};
}

}  // namespace

ShownSchedule show_file(const FileOptions& o) {
  const auto listed =
      std::make_shared<const schedule::Listed>(read_schedule(o.file, *o.network, task_of(o), o.slots));
  const std::string network = network_text(*o.network);
  ShownSchedule shown;
  static_cast<drawing::SchedulePicture&>(shown) =
      drawing::picture_of(*listed, fmt::format("file '{}' --network {}", o.file, network));
  const std::string task = o.packets.empty() ? o.task : fmt::format("'{}'", o.packets);
  if (!task.empty()) shown.title += " --task " + task;
  shown.parameters = {{"file", o.file}, {"network", network}};
  if (!task.empty()) shown.parameters["task"] = o.task + o.packets;
  shown.has_task = listed->has_task();
  const bool hypercube = o.network->kind() == schedule::Network::Kind::hypercube;
  shown.table = hypercube ? crossings_table(*listed) : loads_table(*listed);
  shown.schedule = listed;
  return shown;
}

}  // namespace xorder::cli
