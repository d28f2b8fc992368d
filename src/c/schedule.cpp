// Schedules of the C interface.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "c/border.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/torus.hpp"
#include "schedule/path.hpp"
#include "text/json_text.hpp"
#include "xorder/drawing/draw.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/schedule/listed.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::c {
namespace {

nlohmann::json facts(const schedule::Schedule& s) {
  const schedule::Schedule::Load total = s.total();
  return {{"nodes", s.network().nodes()},   {"slots", s.slots()},           {"steps", s.steps()},
          {"lower_bound", s.lower_bound()}, {"links", s.network().links()}, {"messages", total.messages},
          {"crossings", total.crossings}};
}

nlohmann::json report_json(const schedule::CheckReport& report) {
  return {{"correct", report.correct()},
          {"complete", report.complete()},
          {"conflicts", report.conflicts},
          {"ports_out", report.ports_out},
          {"ports_in", report.ports_in},
          {"one_port_steps", report.one_port_steps},
          {"step_crossings", report.step_crossings},
          {"faults",
           {{"broken", report.broken},
            {"overwritten", report.overwritten},
            {"misplaced", report.misplaced},
            {"miscomputed", report.miscomputed},
            {"first", report.first_fault}}}};
}

int dimension_of(std::uint64_t size) {
  return static_cast<int>(std::min<std::uint64_t>(size, std::numeric_limits<int>::max()));
}

schedule::Network network_of(int kind, std::uint64_t size) {
  using schedule::Network;
  switch (kind) {
    case XORDER_NETWORK_HYPERCUBE:
      return Network::hypercube(dimension_of(size));
    case XORDER_NETWORK_MESH:
      return Network::mesh(size);
    case XORDER_NETWORK_TORUS:
      return Network::torus(size);
    case XORDER_NETWORK_CROSSBAR:
      return Network::crossbar(dimension_of(size));
    default:
      throw ArgumentError(fmt::format("network is {}, which is not an xorder_network", kind));
  }
}

std::optional<schedule::Task> task_of(int task, const schedule::Network& network) {
  switch (task) {
    case XORDER_TASK_NONE:
      return {};
    case XORDER_TASK_TRANSPOSITION:
      return schedule::transposition_task(network);
    case XORDER_TASK_BIT_REVERSAL:
      return schedule::bit_reversal_task(network);
    default:
      throw ArgumentError(fmt::format("task is {}, which is not an xorder_task", task));
  }
}

std::unique_ptr<schedule::Schedule> known_schedule(int task, const schedule::Network& network) {
  using Kind = schedule::Exchange::Kind;
  if (task != XORDER_TASK_TRANSPOSITION && task != XORDER_TASK_BIT_REVERSAL)
    throw ArgumentError(fmt::format("task is {}; expected a transposition or a bit reversal", task));
  const bool transposition = task == XORDER_TASK_TRANSPOSITION;
  if (network.kind() == schedule::Network::Kind::hypercube)
    return std::make_unique<schedule::Exchange>(network.dimension(),
                                                transposition ? Kind::transposition : Kind::bit_reversal);
  if (!network.has_rows() || !transposition)
    throw InputError(
        "there are schedules for a transposition or a bit reversal on a hypercube, and for a transposition "
        "on a mesh or a torus; others can be read");
  return schedule::mesh_schedule(network.side(), schedule::MeshRouting::any,
                                 network.kind() == schedule::Network::Kind::torus);
}

}  // namespace
}  // namespace xorder::c

struct xorder_schedule {
  explicit xorder_schedule(std::unique_ptr<xorder::schedule::Schedule> of, bool for_a_task = true)
      : schedule(std::move(of)), json(xorder::json_text(xorder::c::facts(*schedule))), has_task(for_a_task) {}

  const xorder::schedule::Network& network() const { return schedule->network(); }

  std::vector<xorder::schedule::Message> messages(uint64_t step) const {
    if (step >= schedule->steps()) {
      throw xorder::c::ArgumentError(
          fmt::format("step {} of a schedule of {} steps", step, schedule->steps()));
    }
    std::vector<xorder::schedule::Message> all;
    schedule->messages(step, all);
    return all;
  }

  std::unique_ptr<xorder::schedule::Schedule> schedule;
  std::string json, check_json;
  bool has_task;
};

using namespace xorder::c;

int xorder_schedule_create(xorder_schedule** out, int task, int network, uint64_t size) {
  return made(out, [&] {
    return std::make_unique<xorder_schedule>(known_schedule(task, network_of(network, size)));
  });
}

int xorder_schedule_search(xorder_schedule** out, int dimension, uint64_t slots, const uint64_t* packets,
                           size_t count) {
  return made(out, [&] {
    if (count != 0) require(packets, "packets");
    std::vector<xorder::schedule::Packet> task;
    for (std::size_t i = 0; i < count; ++i) {
      const uint64_t* const p = packets + 4 * i;
      task.push_back({{p[0], p[1]}, {p[2], p[3]}});
    }
    return std::make_unique<xorder_schedule>(
        std::make_unique<xorder::schedule::Routed>(dimension, slots, task));
  });
}

int xorder_schedule_read(xorder_schedule** out, const char* text, const char* name, int network,
                         uint64_t size, int task) {
  return made(out, [&] {
    require(text, "text");
    require(name, "name");
    const xorder::schedule::Network on = network_of(network, size);
    auto listed = std::make_unique<xorder::schedule::Listed>(
        xorder::schedule::Listed::read(text, name, on, task_of(task, on)));
    const bool has_task = listed->has_task();
    return std::make_unique<xorder_schedule>(std::move(listed), has_task);
  });
}

const char* xorder_schedule_json(const xorder_schedule* schedule) {
  return schedule == nullptr ? "" : schedule->json.c_str();
}

int xorder_schedule_messages(const xorder_schedule* schedule, uint64_t step, xorder_message* messages,
                             size_t room, size_t* count) {
  return guarded([&] {
    require(schedule, "schedule");
    require(count, "count");
    if (room != 0) require(messages, "messages");
    const std::vector<xorder::schedule::Message> all = schedule->messages(step);
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(room, all.size())),
                   messages, [&](const xorder::schedule::Message& m) {
                     return xorder_message{m.from.node, m.from.slot, m.to.node,
                                           m.to.slot,   m.via,       links(schedule->network(), m)};
                   });
    *count = all.size();
  });
}

int xorder_schedule_paths(const xorder_schedule* schedule, uint64_t step, uint64_t* nodes, size_t room,
                          size_t* count) {
  return guarded([&] {
    require(schedule, "schedule");
    require(count, "count");
    if (room != 0) require(nodes, "nodes");
    size_t found = 0;
    const auto add = [&](uint64_t node) {
      if (found < room) nodes[found] = node;
      ++found;
    };
    for (const xorder::schedule::Message& m : schedule->messages(step)) {
      add(m.from.node);
      for_each_link(schedule->network(), m, [&](uint64_t, uint64_t to) { add(to); });
    }
    *count = found;
  });
}

int xorder_schedule_check(xorder_schedule* schedule, const char** json) {
  return guarded([&] {
    require(schedule, "schedule");
    require(json, "json");
    schedule->check_json = xorder::json_text(report_json(check(*schedule->schedule)));
    *json = schedule->check_json.c_str();
  });
}

int xorder_schedule_svg(const xorder_schedule* schedule, const char* title, char* text, size_t room,
                        size_t* length) {
  return told(text, room, length, [&] {
    require(schedule, "schedule");
    require(title, "title");
    const xorder::schedule::Schedule& s = *schedule->schedule;
    return xorder::drawing::draw(s, xorder::drawing::picture_of(s, title, schedule->has_task));
  });
}

void xorder_schedule_free(xorder_schedule* schedule) { delete schedule; }
