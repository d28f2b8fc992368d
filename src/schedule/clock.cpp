#include "schedule/clock.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/path.hpp"

namespace xorder::schedule {

using std::uint64_t;

Clock::Clock(const Network& network, uint64_t slots, const LinkTimes& times, Switching switching)
    : network_(network),
      slots_(slots),
      times_(times),
      switching_(switching),
      there_(network.nodes() * slots),
      read_(there_.size()),
      link_free_(network.link_numbers()),
      send_free_(times.one_port ? network.nodes() : 0),
      receive_free_(send_free_.size()),
      one_port_(network.nodes()) {
  check(times);
}

uint64_t Clock::memory_of(const Network& network, uint64_t slots, bool one_port) {
  constexpr uint64_t each_node = 32, each_message = 96, each_message_by_rounds = 256;
  const uint64_t places = network.nodes() * slots;
  const uint64_t messages = std::min(places, network.links() + network.nodes());  // of a step
  return (2 * places + network.link_numbers()) * sizeof(double) + network.nodes() * each_node +
         messages * (one_port ? each_message_by_rounds : each_message);
}

void Clock::restart() {
  time_ = {};
  for (std::vector<double>* values : {&there_, &read_, &link_free_, &send_free_, &receive_free_})
    std::ranges::fill(*values, 0.0);
}

void Clock::step(std::span<const Message> messages, std::span<const double> bytes,
                 std::span<const Update> updates) {
  sent_.clear();
  for (std::size_t i = 0; i < messages.size(); ++i)
    sent_.push_back({messages[i], bytes[i], time_of(messages[i], bytes[i])});
  if (times_.one_port) order_by_rounds();
  time_.lock_step += lock_step();
  perform();
  computed_.clear();
  for (const Update& u : updates)
    computed_.push_back(std::max({at(there_, u.element), at(there_, u.plus), at(there_, u.minus)}));
  for (std::size_t i = 0; i < updates.size(); ++i) at(there_, updates[i].element) = computed_[i];
}

double Clock::time_of(const Message& m, double bytes) const {
  if (stays(m)) return 0;
  const auto crossed = static_cast<double>(links(network_, m));
  const double transfers = switching_ == Switching::wormhole ? 1 : crossed;
  return times_.startup + crossed * times_.per_link + transfers * bytes * times_.per_byte;
}

// Long messages first, so that they share rounds; a round is as long as its longest message.
void Clock::order_by_rounds() {
  if (!std::ranges::is_sorted(sent_, std::ranges::greater(), &Sent::time))
    std::ranges::stable_sort(sent_, std::ranges::greater(), &Sent::time);
  messages_.clear();
  for (const Sent& sent : sent_) messages_.push_back(sent.message);
  const uint64_t rounds = one_port_.split(messages_, rounds_of_);
  round_ends_.assign(1, sent_.size());
  if (rounds <= 1) return;
  round_ends_.assign(rounds, 0);
  for (const uint64_t r : rounds_of_) ++round_ends_[r];
  std::partial_sum(round_ends_.begin(), round_ends_.end(), round_ends_.begin());
  std::vector<uint64_t> next(round_ends_.size(), 0);
  std::copy(round_ends_.begin(), round_ends_.end() - 1, next.begin() + 1);
  ordered_.resize(sent_.size());
  for (std::size_t i = 0; i < sent_.size(); ++i) ordered_[next[rounds_of_[i]]++] = sent_[i];
  sent_.swap(ordered_);
}

double Clock::longest(std::size_t begin, std::size_t end) const {
  double time = 0;
  for (std::size_t i = begin; i < end; ++i) time = std::max(time, sent_[i].time);
  return time;
}

double Clock::lock_step() const {
  if (!times_.one_port) return longest(0, sent_.size());
  double time = 0;
  std::size_t begin = 0;
  for (const uint64_t end : round_ends_) {
    time += longest(begin, end);
    begin = end;
  }
  return time;
}

// All messages of a step are read before any is delivered.
void Clock::perform() {
  arrivals_.clear();
  for (const auto& [m, bytes, time] : sent_) {
    double begin = at(there_, m.from);
    if (stays(m)) {
      arrivals_.push_back(begin);
      continue;
    }
    if (times_.one_port) begin = std::max({begin, send_free_[m.from.node], receive_free_[m.to.node]});
    collect_links(m);
    const double end = switching_ == Switching::wormhole ? hold_all(begin, time) : hold_in_turn(begin, bytes);
    at(read_, m.from) = std::max(at(read_, m.from), begin);
    if (times_.one_port) send_free_[m.from.node] = receive_free_[m.to.node] = end;
    arrivals_.push_back(end);
  }
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    const Place& to = sent_[i].message.to;
    const double arrival = std::max(arrivals_[i], at(read_, to));
    at(there_, to) = arrival;
    time_.asynchronous = std::max(time_.asynchronous, arrival);
  }
}

double Clock::hold_all(double& begin, double time) {
  for (const uint64_t link : path_) begin = std::max(begin, link_free_[link]);
  for (const uint64_t link : path_) link_free_[link] = begin + time;
  return begin + time;
}

double Clock::hold_in_turn(double& begin, double bytes) {
  begin = std::max(begin, link_free_[path_.front()]);
  double now = begin + times_.startup;
  for (const uint64_t link : path_) {
    now = std::max(now, link_free_[link]) + times_.per_link + bytes * times_.per_byte;
    link_free_[link] = now;
  }
  return now;
}

void Clock::collect_links(const Message& m) {
  path_.clear();
  for_each_link(network_, m,
                [this](Node from, Node to) { path_.push_back(network_.link(from, to).value()); });
}

}  // namespace xorder::schedule
