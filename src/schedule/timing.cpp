#include "xorder/schedule/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "xorder/error.hpp"
#include "xorder/schedule/check.hpp"
#include "xorder/schedule/one_port.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

class Clock {
 public:
  Clock(const Schedule& schedule, double bytes, const LinkTimes& times, Switching switching)
      : schedule_(schedule),
        network_(schedule.network()),
        bytes_(bytes),
        times_(times),
        switching_(switching),
        there_(network_.nodes() * schedule.slots(), 0),
        read_(there_.size(), 0),
        link_free_(network_.link_numbers(), 0),
        one_port_(network_.nodes()),
        send_free_(network_.nodes(), 0),
        receive_free_(network_.nodes(), 0) {}

  Duration run() {
    Duration result;
    std::vector<Message> messages;
    std::vector<Update> updates;
    for (uint64_t step = 0; step < schedule_.steps(); ++step) {
      schedule_.messages(step, messages);
      if (times_.one_port) order_by_rounds(messages);
      result.lock_step += lock_step(messages);
      perform(messages);
      schedule_.updates(step, updates);
      for (const Update& u : updates) {
        computed_.push_back(std::max({at(there_, u.element), at(there_, u.plus), at(there_, u.minus)}));
      }
      for (std::size_t i = 0; i < updates.size(); ++i) at(there_, updates[i].element) = computed_[i];
      computed_.clear();
    }
    result.asynchronous = latest_;
    return result;
  }

 private:
  double& at(std::vector<double>& values, const Place& p) const {
    return values[p.node * schedule_.slots() + p.slot];
  }

  double time_of(const Message& m) const {
    const auto links =
        static_cast<double>(network_.distance(m.from.node, m.via) + network_.distance(m.via, m.to.node));
    const double transfers = switching_ == Switching::wormhole ? 1 : links;
    return times_.startup + links * times_.per_link + transfers * bytes_ * times_.per_byte;
  }

  // Long messages first, so that they share rounds; a round is as long as its longest message.
  void order_by_rounds(std::vector<Message>& messages) {
    const auto time = [this](const Message& m) { return time_of(m); };
    if (!std::ranges::is_sorted(messages, std::ranges::greater(), time)) {
      std::ranges::stable_sort(messages, std::ranges::greater(), time);
    }
    const uint64_t rounds = one_port_.split(messages, rounds_of_);
    round_ends_.assign(1, messages.size());
    if (rounds <= 1) return;
    round_ends_.assign(rounds, 0);
    for (const uint64_t r : rounds_of_) ++round_ends_[r];
    std::partial_sum(round_ends_.begin(), round_ends_.end(), round_ends_.begin());
    std::vector<uint64_t> next(round_ends_.size(), 0);
    std::copy(round_ends_.begin(), round_ends_.end() - 1, next.begin() + 1);
    ordered_.resize(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) ordered_[next[rounds_of_[i]]++] = messages[i];
    messages.swap(ordered_);
  }

  double longest(const std::vector<Message>& messages, std::size_t begin, std::size_t end) const {
    double time = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!stays(messages[i])) time = std::max(time, time_of(messages[i]));
    }
    return time;
  }

  double lock_step(const std::vector<Message>& messages) const {
    if (!times_.one_port) return longest(messages, 0, messages.size());
    double time = 0;
    std::size_t begin = 0;
    for (const uint64_t end : round_ends_) {
      time += longest(messages, begin, end);
      begin = end;
    }
    return time;
  }

  // All messages of a step are read before any is delivered.
  void perform(const std::vector<Message>& messages) {
    arrivals_.clear();
    for (const Message& m : messages) {
      double begin = at(there_, m.from);
      if (stays(m)) {
        arrivals_.push_back(begin);
        continue;
      }
      if (times_.one_port) {
        begin = std::max({begin, send_free_[m.from.node], receive_free_[m.to.node]});
      }
      collect_links(m);
      const double end =
          switching_ == Switching::wormhole ? hold_all(begin, time_of(m)) : hold_in_turn(begin);
      at(read_, m.from) = std::max(at(read_, m.from), begin);
      if (times_.one_port) send_free_[m.from.node] = receive_free_[m.to.node] = end;
      arrivals_.push_back(end);
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const double arrival = std::max(arrivals_[i], at(read_, messages[i].to));
      at(there_, messages[i].to) = arrival;
      latest_ = std::max(latest_, arrival);
    }
  }

  double hold_all(double& begin, double time) {
    for (const uint64_t link : path_) begin = std::max(begin, link_free_[link]);
    for (const uint64_t link : path_) link_free_[link] = begin + time;
    return begin + time;
  }

  double hold_in_turn(double& begin) {
    begin = std::max(begin, link_free_[path_.front()]);
    double now = begin + times_.startup;
    for (const uint64_t link : path_) {
      now = std::max(now, link_free_[link]) + times_.per_link + bytes_ * times_.per_byte;
      link_free_[link] = now;
    }
    return now;
  }

  void collect_links(const Message& m) {
    path_.clear();
    Node at = m.from.node;
    for (const Node to : {m.via, m.to.node}) {
      while (at != to) {
        Node next = to;
        if (network_.kind() == Network::Kind::mesh) {
          const Node stride = at / network_.side() == to / network_.side() ? 1 : network_.side();
          next = at < to ? at + stride : at - stride;
        }
        path_.push_back(network_.link(at, next).value());
        at = next;
      }
    }
  }

  const Schedule& schedule_;
  const Network& network_;
  double bytes_;
  LinkTimes times_;
  Switching switching_;
  std::vector<double> there_;      // by place: when its content arrived
  std::vector<double> read_;       // by place: when its content was last sent
  std::vector<double> link_free_;  // by link
  OnePort one_port_;
  std::vector<uint64_t> rounds_of_;  // by message of the step
  std::vector<Message> ordered_;
  std::vector<uint64_t> round_ends_;              // of the step's messages, with one port
  std::vector<double> send_free_, receive_free_;  // by node, with one port
  std::vector<double> arrivals_, computed_;
  std::vector<uint64_t> path_;
  double latest_ = 0;
};

}  // namespace

Duration duration(const Schedule& schedule, double bytes, const LinkTimes& times, Switching switching) {
  for (const double value : {bytes, times.startup, times.per_link, times.per_byte}) {
    if (!std::isfinite(value) || value < 0)
      throw InputError(fmt::format("a time or size must be finite and not negative, not {}", value));
  }
  const uint64_t nodes = schedule.network().nodes();
  if (nodes != 0 && schedule.slots() > max_checked_places / nodes) {
    throw InputError(
        fmt::format("{} virtual processors with {} slots each are too many to time: at most {} places", nodes,
                    schedule.slots(), max_checked_places));
  }
  return Clock(schedule, bytes, times, switching).run();
}

}  // namespace xorder::schedule
