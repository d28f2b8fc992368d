#include "xorder/schedule/listed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/json_text.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::schedule {
namespace {

using nlohmann::json;
using std::uint64_t;

// Reads the lines of a text, one message each.
class LineReader {
 public:
  LineReader(const Network& network, const std::string& name, std::optional<uint64_t> slots)
      : network_(network),
        name_(name),
        slots_(slots.value_or(network.nodes() == 0 ? 0 : max_checked_places / network.nodes())),
        slots_given_(slots.has_value()) {}

  // The message without its path, which is in path() then.
  Message read(std::string_view line, uint64_t number, uint64_t& step) {
    source_ = fmt::format("{}: line {}", name_, number);
    const json object = parsed_json(line, source_);
    if (!object.is_object()) fail("is not a JSON object");
    if (object.contains("update")) fail("is an update; a schedule that computes cannot be read back");
    for (const auto& [key, value] : object.items()) {
      if (key != "step" && key != "from" && key != "to" && key != "path")
        fail(fmt::format("the key {}; expected step, from, to and path", json_text(json(key))));
    }
    step = value_of<uint64_t>(object, "step").value_or(Listed::max_steps);
    if (step >= Listed::max_steps)
      fail(fmt::format("step is not a whole number from 0 to {}", Listed::max_steps - 1));
    Message m;
    m.from = place(object, "from");
    m.to = place(object, "to");
    path_.clear();
    if (object.contains("path")) {
      read_path(object["path"], m);
    } else {
      find_path(m);
    }
    return m;
  }
  const std::vector<Node>& path() const { return path_; }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(source_ + ": " + what); }

  static bool is_number(const json& value) { return value.is_number_unsigned(); }

  Place place(const json& object, const char* key) const {
    const auto given = object.find(key);
    if (given == object.end() || !given->is_array() || given->size() != 2 ||
        !std::ranges::all_of(*given, is_number))
      fail(fmt::format("{} is not [node, slot]", key));
    const Place place{(*given)[0].get<uint64_t>(), (*given)[1].get<uint64_t>()};
    check_node(place.node);
    if (place.slot < slots_) return place;
    fail(slots_given_ ? fmt::format("there is no slot {}; a node has {}", place.slot, slots_)
                      : fmt::format("slot {} is too large; at most {} of each node can be checked",
                                    place.slot, slots_));
  }
  void check_node(Node node) const {
    if (node >= network_.nodes())
      fail(fmt::format("there is no node {}; the network has {}", node, network_.nodes()));
  }

  void read_path(const json& nodes, const Message& m) {
    if (!nodes.is_array() || nodes.empty() || !std::ranges::all_of(nodes, is_number))
      fail("path is not a list of nodes");
    for (const json& node : nodes) check_node(path_.emplace_back(node.get<uint64_t>()));
    if (path_.front() != m.from.node || path_.back() != m.to.node) {
      fail(fmt::format("the path goes from node {} to {}, the message from {} to {}", path_.front(),
                       path_.back(), m.from.node, m.to.node));
    }
    for (std::size_t i = 1; i < path_.size(); ++i) {
      if (!network_.link(path_[i - 1], path_[i]))
        fail(fmt::format("there is no link from node {} to {}", path_[i - 1], path_[i]));
    }
    if (network_.kind() == Network::Kind::crossbar && path_.size() > 2)
      fail("on a crossbar a path has no nodes between its ends");
  }

  void find_path(const Message& m) {
    const uint64_t side = network_.side();
    const Node to = m.to.node;
    Node at = path_.emplace_back(m.from.node);
    const bool in_line = network_.has_rows() ? at / side == to / side || at % side == to % side
                                             : at == to || network_.link(at, to).has_value();
    if (!in_line) fail(fmt::format("no straight way from node {} to {}; the message needs a path", at, to));
    while (at != to) path_.push_back(at = network_.next(at, to));
  }

  const Network& network_;
  const std::string& name_;
  uint64_t slots_;
  bool slots_given_;
  std::string source_;
  std::vector<Node> path_;
};

// The ends of the legs of a path: as few as next() finds again.
std::vector<Node> legs_of(const Network& network, const std::vector<Node>& path) {
  const auto direction = [&](std::size_t i) {
    return network.link(path[i - 1], path[i]).value() - 4 * path[i - 1];
  };
  const uint64_t longest = !network.has_rows()                     ? 1
                           : network.kind() == Network::Kind::mesh ? network.side()
                                                                   : (network.side() - 1) / 2;
  std::vector<Node> ends;
  uint64_t length = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (length > 0 && length < longest && direction(i) == direction(i - 1)) {
      ends.back() = path[i];
    } else {
      ends.push_back(path[i]);
      length = 0;
    }
    ++length;
  }
  return ends;
}

}  // namespace

Listed Listed::read(std::string_view text, const std::string& name, const Network& network,
                    const std::optional<Task>& task, std::optional<uint64_t> slots) {
  Parts parts;
  LineReader reader(network, name, slots);
  for (uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    uint64_t step = 0;
    Message m = reader.read(line, number, step);
    const std::vector<Node> ends = legs_of(network, reader.path());
    m.via = ends.empty() ? m.to.node : ends.front();
    if (ends.size() > 2) {
      parts.turns.push_back(std::make_unique<const std::vector<Node>>(ends.begin() + 1, ends.end() - 1));
      m.turns = parts.turns.back().get();
    }
    if (step >= parts.steps.size()) parts.steps.resize(step + 1);
    parts.steps[step].push_back(m);
    parts.slots = std::max({parts.slots, m.from.slot + 1, m.to.slot + 1});
  }
  if (task) {
    for (const Packet& p : task->packets)
      parts.slots = std::max({parts.slots, p.from.slot + 1, p.to.slot + 1});
  }
  parts.slots = slots.value_or(std::max<uint64_t>(parts.slots, 1));
  if (network.nodes() != 0 && parts.slots > max_checked_places / network.nodes())
    throw InputError(fmt::format("{}: {} slots of each of {} nodes; at most {} in all", name, parts.slots,
                                 network.nodes(), max_checked_places));
  return {network, std::move(parts), task};
}

Listed::Listed(const Network& network, Parts parts, const std::optional<Task>& task)
    : Schedule(network, parts.slots, parts.steps.size(), task ? task->lower_bound : 0),
      parts_(std::move(parts)) {
  if (task) goals_.emplace(network.nodes(), slots(), task->packets);
}

void Listed::messages(uint64_t step, std::vector<Message>& out) const { out = parts_.steps[step]; }

std::optional<Place> Listed::goal(Place start) const { return goals_ ? goals_->of(start) : std::nullopt; }

}  // namespace xorder::schedule
