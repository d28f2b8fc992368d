#include "xorder/schedule/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/bits.hpp"
#include "schedule/path.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

// What lies in a place: the number of the place it started from, and how many updates it has been through.
struct Label {
  std::uint32_t start = 0;
  std::uint16_t version = 0;
  bool awaited = false;  // it still has to be sent or consumed
};

// Counts events of the current step.
class Count {
 public:
  uint64_t one_more(uint64_t step) {
    if (step != step_) count_ = 0;
    step_ = step;
    return ++count_;
  }

 private:
  uint64_t step_ = 0;
  uint64_t count_ = 0;
};

class Checker {
 public:
  explicit Checker(const Schedule& schedule)
      : schedule_(schedule),
        network_(schedule.network()),
        recurrence_(schedule.recurrence()),
        places_(network_.nodes() * schedule.slots()),
        used_(network_.link_numbers(), 0),
        user_(network_.link_numbers()),
        sends_(network_.nodes()),
        receives_(network_.nodes()),
        received_(network_.nodes()) {
    for (uint64_t i = 0; i < places_.size(); ++i) {
      places_[i] = {static_cast<std::uint32_t>(i), 0, schedule.goal(place(i)).has_value()};
    }
    report_.steps = schedule.steps();
    report_.lower_bound = schedule.lower_bound();
    report_.links = network_.links();
  }

  CheckReport run() {
    for (step_ = 0; step_ < schedule_.steps(); ++step_) {
      const uint64_t before = report_.crossings;
      schedule_.messages(step_, messages_);
      busiest_port_ = 1;
      for (const Message& m : messages_) walk(m);
      report_.one_port_steps += busiest_port_;
      move();
      schedule_.updates(step_, updates_);
      compute();
      report_.step_crossings.push_back(report_.crossings - before);
    }
    compare_with_goal();
    return std::move(report_);
  }

 private:
  Place place(uint64_t i) const { return {i / schedule_.slots(), i % schedule_.slots()}; }
  bool exists(const Place& p) const { return p.node < network_.nodes() && p.slot < schedule_.slots(); }
  Label& at(const Place& p) { return places_[p.node * schedule_.slots() + p.slot]; }

  template <class... Args>
  void fault(uint64_t& count, fmt::format_string<Args...> text, Args&&... args) {
    ++count;
    if (!report_.first_fault.empty()) return;
    report_.first_fault = step_ < schedule_.steps() ? fmt::format("step {}: ", step_) : "at the end: ";
    report_.first_fault += fmt::format(text, std::forward<Args>(args)...);
  }

  static std::string name(const Place& p) { return fmt::format("slot {} of node {}", p.slot, p.node); }
  static std::string name(const Message& m) { return fmt::format("{} to {}", name(m.from), name(m.to)); }

  // Takes the links of the message's path.
  void walk(const Message& m) {
    if (stays(m)) return;
    ++report_.messages;
    bool straight = true;
    for_each_leg(m, [&](Node from, Node to) { straight = straight && is_leg(from, to); });
    if (straight) {
      for_each_link(network_, m, [&](Node from, Node to) { take(from, to, m); });
    } else {
      fault(report_.broken, "no path from node {} over {} to {}", m.from.node, m.via, m.to.node);
    }
    if (m.from.node < network_.nodes()) {
      const uint64_t sent = sends_[m.from.node].one_more(step_);
      report_.ports_out = std::max(report_.ports_out, sent);
      busiest_port_ = std::max(busiest_port_, sent);
    }
    if (m.to.node < network_.nodes()) {
      const uint64_t received = receives_[m.to.node].one_more(step_);
      report_.ports_in = std::max(report_.ports_in, received);
      busiest_port_ = std::max(busiest_port_, received);
      if (network_.kind() == Network::Kind::crossbar && received > 1) {
        fault(report_.conflicts, "node {} receives twice: {}, and {}", m.to.node,
              name(messages_[received_[m.to.node]]), name(m));
      }
      received_[m.to.node] = index_of(m);
    }
  }

  // Whether there is a straight way: no link or one, or on a mesh or torus several in one row or column.
  bool is_leg(Node from, Node to) const {
    if (from >= network_.nodes() || to >= network_.nodes()) return false;
    const uint64_t side = network_.side();
    if (network_.has_rows()) return from / side == to / side || from % side == to % side;
    return from == to || network_.link(from, to).has_value();
  }

  void take(Node from, Node to, const Message& m) {
    const uint64_t link = network_.link(from, to).value();
    ++report_.crossings;
    if (used_[link] == step_ + 1) {
      fault(report_.conflicts, "the link from node {} to {} is used twice: by {}, and by {}", from, to,
            name(messages_[user_[link]]), name(m));
    }
    used_[link] = step_ + 1;
    user_[link] = index_of(m);
  }
  std::uint32_t index_of(const Message& m) const { return static_cast<std::uint32_t>(&m - messages_.data()); }

  // Reads all, then writes all.
  void move() {
    moving_.clear();
    for (const Message& m : messages_) {
      if (!exists(m.from) || !exists(m.to)) {
        fault(report_.broken, "{}: no such place", name(m));
        moving_.emplace_back();
        continue;
      }
      moving_.push_back(at(m.from));
    }
    for (const Message& m : messages_) {
      if (exists(m.from)) at(m.from).awaited = false;
    }
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Message& m = messages_[i];
      if (!exists(m.from) || !exists(m.to)) continue;
      Label& target = at(m.to);
      if (target.awaited) fault(report_.overwritten, "{} is overwritten before it was sent", name(m.to));
      target = moving_[i];
      target.awaited = true;
    }
  }

  // The number of the element that started at a place, and the place where it starts.
  uint64_t element_of(const Label& label) const {
    const Place start = place(label.start);
    return gray_inverse(start.node) * per_node() + start.slot;
  }
  uint64_t per_node() const { return (uint64_t{1} << recurrence_->lg_elements) / network_.nodes(); }

  const Recurrence::Iteration& reads(const Label& x) const { return recurrence_->iterations[x.version]; }

  void compute() {
    if (updates_.empty()) return;
    if (!recurrence_) return fault(report_.miscomputed, "updates, but no recurrence");
    const uint64_t mask = (uint64_t{1} << recurrence_->lg_elements) - 1;
    for (const Update& u : updates_) {
      if (!exists(u.element) || !exists(u.plus) || !exists(u.minus)) {
        fault(report_.broken, "an update of {}: no such place", name(u.element));
        continue;
      }
      const Label x = at(u.element), plus = at(u.plus), minus = at(u.minus);
      const uint64_t distance = uint64_t{1} << u.iteration;
      const bool right = x.version < recurrence_->iterations.size() &&
                         u.iteration == recurrence_->iterations[x.version].b && place(x.start) == u.element &&
                         plus.version == x.version && minus.version == x.version &&
                         element_of(plus) == ((element_of(x) + (reads(x).plus ? distance : 0)) & mask) &&
                         element_of(minus) == ((element_of(x) - (reads(x).minus ? distance : 0)) & mask);
      if (!right) {
        fault(report_.miscomputed, "iteration {} of {} finds wrong operands", u.iteration, name(u.element));
      }
    }
    for (const Update& u : updates_) {
      if (!exists(u.element) || !exists(u.plus) || !exists(u.minus)) continue;
      ++at(u.element).version;
      for (const Place& read : {u.plus, u.minus}) {
        if (read != u.element) at(read).awaited = false;
      }
    }
  }

  void compare_with_goal() {
    const std::size_t iterations = recurrence_ ? recurrence_->iterations.size() : 0;
    for (uint64_t i = 0; i < places_.size(); ++i) {
      const auto goal = schedule_.goal(place(i));
      if (!goal) continue;
      if (!exists(*goal)) {
        fault(report_.misplaced, "what began in {} should be in {}, which does not exist", name(place(i)),
              name(*goal));
      } else if (at(*goal).start != i) {
        fault(report_.misplaced, "what began in {} is not in {}", name(place(i)), name(*goal));
      } else if (at(*goal).version != iterations) {
        fault(report_.miscomputed, "{} has been through {} of {} iterations", name(*goal), at(*goal).version,
              iterations);
      }
    }
  }

  const Schedule& schedule_;
  const Network& network_;
  const std::optional<Recurrence> recurrence_;
  std::vector<Label> places_;
  std::vector<uint64_t> used_;           // by link: the last step that used it, plus one
  std::vector<std::uint32_t> user_;      // by link: its message in that step
  std::vector<Count> sends_;             // by node
  std::vector<Count> receives_;          // by node
  std::vector<std::uint32_t> received_;  // by node: the last message that it received
  uint64_t step_ = 0;
  uint64_t busiest_port_ = 1;  // the most messages through a port in this step
  std::vector<Message> messages_;
  std::vector<Label> moving_;
  std::vector<Update> updates_;
  CheckReport report_;
};

}  // namespace

CheckReport check(const Schedule& schedule) {
  const uint64_t nodes = schedule.network().nodes();
  if (nodes != 0 && schedule.slots() > max_checked_places / nodes) {
    throw InputError(
        fmt::format("{} virtual processors with {} slots each are too many to check: at most {} places",
                    nodes, schedule.slots(), max_checked_places));
  }
  return Checker(schedule).run();
}

void require_correct(const Schedule& schedule) {
  if (const CheckReport report = check(schedule); !report.correct())
    throw Error("the schedule has a fault: " + report.first_fault);
}

}  // namespace xorder::schedule
