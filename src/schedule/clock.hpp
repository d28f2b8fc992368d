// The time of a schedule while it is performed, step by step, by the model of xorder/schedule/timing.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/one_port.hpp"
#include "xorder/schedule/timing.hpp"

namespace xorder::schedule {

class Clock {
 public:
  /// For nodes of `slots` slots each. Throws InputError if a time is negative or not finite.
  Clock(const Network& network, std::uint64_t slots, const LinkTimes& times, Switching switching);
  /// About how many bytes a clock takes for itself.
  static std::uint64_t memory_of(const Network& network, std::uint64_t slots, bool one_port);

  /// Goes back to the time 0.
  void restart();
  /// The messages of the next step and the updates after them, both in the order of the schedule. bytes[i]
  /// are those of messages[i]. Takes time proportional to the links of their paths, with one port about twice
  /// that.
  void step(std::span<const Message> messages, std::span<const double> bytes,
            std::span<const Update> updates);
  /// Of all steps since the beginning.
  Duration time() const { return time_; }

 private:
  struct Sent {
    Message message;
    double bytes;
    double time;  // that it takes if nothing is in its way; 0 if it stays on its node
  };

  double& at(std::vector<double>& values, const Place& p) const { return values[p.node * slots_ + p.slot]; }
  double time_of(const Message& m, double bytes) const;
  void order_by_rounds();
  double longest(std::size_t begin, std::size_t end) const;
  double lock_step() const;
  void perform();
  double hold_all(double& begin, double time);
  double hold_in_turn(double& begin, double bytes);
  void collect_links(const Message& m);

  Network network_;
  std::uint64_t slots_;
  LinkTimes times_;
  Switching switching_;
  Duration time_;
  std::vector<double> there_;                     // by place: when its content arrived
  std::vector<double> read_;                      // by place: when its content was last sent
  std::vector<double> link_free_;                 // by link
  std::vector<double> send_free_, receive_free_;  // by node, with one port
  OnePort one_port_;
  // Of the step, kept for the next one.
  std::vector<Sent> sent_, ordered_;
  std::vector<Message> messages_;         // of sent_, for one_port_
  std::vector<std::uint64_t> rounds_of_;  // by message
  std::vector<std::uint64_t> round_ends_;
  std::vector<double> arrivals_, computed_;
  std::vector<std::uint64_t> path_;
};

}  // namespace xorder::schedule
