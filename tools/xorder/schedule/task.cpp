// `xorder schedule task`: any packets. Also shows schedules of other commands that were found by search.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "io/format/text_file.hpp"
#include "schedule/origins.hpp"
#include "schedule/path.hpp"
#include "schedule/shown.hpp"
#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using schedule::Node;
using std::uint64_t;

}  // namespace

std::vector<schedule::Packet> read_packets(const std::string& file) {
  std::vector<schedule::Packet> packets;
  for_each_line_of_numbers(
      io::read_text(file), file, 10, [&](std::size_t line, const std::vector<uint64_t>& values) {
        if (values.size() != 4) {
          throw InputError(
              fmt::format("{}: line {}: {}; a packet has 4: node, slot, target node, target slot", file, line,
                          count_text(values.size(), "number")));
        }
        packets.push_back({{values[0], values[1]}, {values[2], values[3]}});
      });
  return packets;
}

ScheduleTable crossings_table(const schedule::Schedule& schedule) {
  const int d = schedule.network().dimension();
  return {"how many messages cross each dimension", "step", numbered("j=", d), schedule.steps(),
          [&schedule, d](uint64_t step) {
            std::vector<uint64_t> count(static_cast<std::size_t>(d), 0);
            std::vector<Message> messages;
            schedule.messages(step, messages);
            for (const Message& m : messages) {
              for_each_link(schedule.network(), m, [&count](Node from, Node to) {
                ++count[static_cast<std::size_t>(std::countr_zero(from ^ to))];
              });
            }
            return std::vector<nlohmann::json>(count.begin(), count.end());
          }};
}

void show_by_search(ShownSchedule& shown, std::shared_ptr<const schedule::Schedule> schedule,
                    const std::vector<uint64_t>& ends) {
  const schedule::Schedule* s = schedule.get();
  shown.table = crossings_table(*s);
  const auto origins = std::make_shared<std::optional<Origins>>();
  const auto origin = [s, origins](uint64_t step, const Message& m) {
    if (!*origins) origins->emplace(*s);
    return (*origins)->of(step, m);
  };
  if (const auto matrices = static_cast<int>(ends.size()); matrices > 1) {
    for (int m = 0; m < matrices; ++m) {
      shown.colours.push_back(
          {m == 0 ? colour::orange : colour::shade(m - 1, matrices - 1), fmt::format("matrix {}", m)});
    }
    shown.mark = [origin, ends](uint64_t step, const Message& m) {
      const auto end = std::ranges::upper_bound(ends, origin(step, m).slot);
      return Mark{static_cast<std::size_t>(end - ends.begin()), ""};
    };
  } else {
    shown.colours = by_distance(s->network().dimension());
    shown.mark = [s, origin](uint64_t step, const Message& m) {
      const schedule::Place from = origin(step, m);
      return Mark{static_cast<std::size_t>(std::popcount(from.node ^ s->goal(from)->node)) - 1, ""};
    };
  }
  shown.schedule = std::move(schedule);
}

void note_search(ShownSchedule& shown, const schedule::Routed& routed) {
  shown.facts["method"] = "search";
  shown.facts["greedy_steps"] = routed.greedy_steps();
  shown.facts["scratch_slots"] = routed.scratch_slots();
}

ShownSchedule show_task(int d, const std::string& packets_file) {
  checked_dimension(d);
  const auto packets = read_packets(packets_file);
  uint64_t slots = 1;
  for (const schedule::Packet& p : packets) {
    const uint64_t largest = std::max(p.from.slot, p.to.slot);
    if (largest >= schedule::Routed::max_places)
      throw InputError(fmt::format("{}: slot {} is too large; there are at most {}", packets_file, largest,
                                   schedule::Routed::max_places));
    slots = std::max(slots, largest + 1);
  }
  auto routed = std::make_unique<schedule::Routed>(d, slots, packets);
  ShownSchedule shown;
  shown.title = fmt::format("task --dimension {} --packets '{}'", d, packets_file);
  shown.summary = fmt::format("{} on 2^{} nodes; found by search", count_text(packets.size(), "packet"), d);
  shown.parameters = {{"dimension", d}, {"packets", packets_file}};
  note_search(shown, *routed);
  show_by_search(shown, std::move(routed));
  return shown;
}

}  // namespace xorder::cli
