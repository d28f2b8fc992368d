// `xorder schedule --messages`: writes a schedule that can be replayed without this program.
#include <fmt/format.h>

#include <iterator>

#include "schedule.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using schedule::Network;
using schedule::Node;

constexpr std::uint64_t most_messages = std::uint64_t{1} << 21;

// Appends the nodes from the end of the path to `to`; on a mesh along a row or a column.
void add_leg(std::vector<Node>& path, const Network& network, Node to) {
  if (network.kind() != Network::Kind::mesh) {
    if (path.back() != to) path.push_back(to);
    return;
  }
  const Node side = network.side();
  while (path.back() != to) {
    const Node at = path.back(), stride = at / side == to / side ? 1 : side;
    path.push_back(at < to ? at + stride : at - stride);
  }
}

}  // namespace

std::string messages_as_json_lines(const schedule::Schedule& schedule) {
  std::string text;
  std::uint64_t count = 0;
  std::vector<Message> messages;
  std::vector<Node> path;
  for (std::uint64_t step = 0; step < schedule.steps(); ++step) {
    // Check before making them: a step can have more than memory holds.
    count += schedule.load(step).messages;
    if (count > most_messages) {
      throw InputError(fmt::format("more than {} messages: too many to write", most_messages));
    }
    schedule.messages(step, messages);
    for (const Message& m : messages) {
      path = {m.from.node};
      add_leg(path, schedule.network(), m.via);
      add_leg(path, schedule.network(), m.to.node);
      fmt::format_to(std::back_inserter(text),
                     "{{\"step\":{},\"from\":[{},{}],\"to\":[{},{}],\"path\":[{}]}}\n", step, m.from.node,
                     m.from.slot, m.to.node, m.to.slot, fmt::join(path, ","));
    }
  }
  return text;
}

}  // namespace xorder::cli
