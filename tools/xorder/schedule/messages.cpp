// `xorder schedule --messages`: writes a schedule that can be replayed without this program.
#include <fmt/format.h>

#include <iterator>

#include "schedule/path.hpp"
#include "schedule/shown.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using schedule::Node;

// Each link of a path is a number in the text.
constexpr std::uint64_t most_messages = std::uint64_t{1} << 21, most_crossings = std::uint64_t{1} << 24;

}  // namespace

std::string messages_as_json_lines(const schedule::Schedule& schedule) {
  const schedule::Schedule::Load total = schedule.total();
  if (total.messages > most_messages || total.crossings > most_crossings) {
    throw InputError(fmt::format("{} messages over {} links; at most {} over {} can be written",
                                 total.messages, total.crossings, most_messages, most_crossings));
  }
  if (const auto computed = schedule.recurrence()) {
    const std::uint64_t updates = computed->iterations.size() << computed->lg_elements;
    if (updates > most_messages)
      throw InputError(fmt::format("{} updates; at most {} can be written", updates, most_messages));
  }
  std::string text;
  std::vector<Message> messages;
  std::vector<schedule::Update> updates;
  std::vector<Node> path;
  for (std::uint64_t step = 0; step < schedule.steps(); ++step) {
    schedule.messages(step, messages);
    for (const Message& m : messages) {
      path = {m.from.node};
      for_each_link(schedule.network(), m, [&path](Node, Node to) { path.push_back(to); });
      fmt::format_to(std::back_inserter(text),
                     "{{\"step\":{},\"from\":[{},{}],\"to\":[{},{}],\"path\":[{}]}}\n", step, m.from.node,
                     m.from.slot, m.to.node, m.to.slot, fmt::join(path, ","));
    }
    schedule.updates(step, updates);
    for (const schedule::Update& u : updates) {
      fmt::format_to(std::back_inserter(text),
                     "{{\"step\":{},\"update\":[{},{}],\"plus\":[{},{}],\"minus\":[{},{}],\"b\":{}}}\n", step,
                     u.element.node, u.element.slot, u.plus.node, u.plus.slot, u.minus.node, u.minus.slot,
                     u.iteration);
    }
  }
  return text;
}

}  // namespace xorder::cli
