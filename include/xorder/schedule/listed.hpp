// A schedule as a list of messages, read from a text of JSON lines, such as `xorder schedule --messages`
// writes. Each line is a message:
//
//     {"step": 0, "from": [node, slot], "to": [node, slot], "path": [node, node, ..]}
//
// The path has all nodes on the way, in order, from the sender to the receiver, with a link from each to the
// next; it may turn as often as it likes. It can be left out if the way is straight: one link or, on a mesh
// or a torus, any number of them in one row or column, on a torus the shorter way. Lines may come in any
// order; empty ones are ignored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xorder/schedule/task.hpp"

namespace xorder::schedule {

class Listed final : public Schedule {
 public:
  /// `name` is what error messages call the text. Without a task, no place has a goal, and the bound is 0.
  /// Every node has `slots` slots; by default one more than the largest that a line or the task names. Throws
  /// InputError naming the line for anything but a message of this network: what is no JSON or has other
  /// keys, nodes, slots and links that do not exist, a path that does not join the ends, a step from
  /// max_steps up; and for a task that does not fit, or more places than can be checked (check.hpp). What
  /// check() finds is not looked for. Time and memory are proportional to the text, the steps and, with a
  /// task, the places.
  static Listed read(std::string_view text, const std::string& name, const Network& network,
                     const std::optional<Task>& task = {}, std::optional<std::uint64_t> slots = {});

  static constexpr std::uint64_t max_steps = std::uint64_t{1} << 21;

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  bool has_task() const { return goals_.has_value(); }

 private:
  struct Parts {
    std::vector<std::vector<Message>> steps;
    std::vector<std::unique_ptr<const std::vector<Node>>> turns;
    std::uint64_t slots = 0;
  };
  Listed(const Network& network, Parts parts, const std::optional<Task>& task);

  Parts parts_;
  std::optional<Goals> goals_;
};

}  // namespace xorder::schedule
