#include "schedule/one_port.hpp"

#include <algorithm>

#include "schedule/path.hpp"

namespace xorder::schedule {

using std::uint64_t;

uint64_t OnePort::count(const std::vector<Message>& messages) {
  uint64_t most = 0;
  for (const Message& m : messages) {
    if (!stays(m)) most = std::max({most, ++sends_[m.from.node], ++receives_[m.to.node]});
  }
  for (const Message& m : messages) sends_[m.from.node] = receives_[m.to.node] = 0;
  return most;
}

uint64_t OnePort::split(const std::vector<Message>& messages, std::vector<uint64_t>& round) {
  round.assign(messages.size(), 0);
  rounds_ = count(messages);
  if (rounds_ <= 1) return rounds_;
  sent_.assign(sends_.size() * rounds_, 0);
  received_.assign(sent_.size(), 0);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (stays(m)) continue;
    const auto out = sent_.begin() + static_cast<std::ptrdiff_t>(m.from.node * rounds_);
    const auto in = received_.begin() + static_cast<std::ptrdiff_t>(m.to.node * rounds_);
    uint64_t r = 0;
    while (r < rounds_ && (out[static_cast<std::ptrdiff_t>(r)] | in[static_cast<std::ptrdiff_t>(r)]) != 0)
      ++r;
    if (r == rounds_) {  // no round suits both, but each has one to spare
      const auto spare = [this](auto port) {
        return static_cast<uint64_t>(std::find(port, port + static_cast<std::ptrdiff_t>(rounds_), 0U) - port);
      };
      r = spare(out);
      make_room(messages, round, m.to.node, r, spare(in));
    }
    round[i] = r;
    out[static_cast<std::ptrdiff_t>(r)] = in[static_cast<std::ptrdiff_t>(r)] =
        static_cast<std::uint32_t>(i + 1);
  }
  return rounds_;
}

// The receiver's message in round `from` moves to round `to`, which may push its sender's message there back
// to `from`, and so on. The chain ends, and never at the sender that needs `from`: chains come to senders in
// round `from`, in which that one sends nothing.
void OnePort::make_room(const std::vector<Message>& messages, std::vector<uint64_t>& round, Node receiver,
                        uint64_t from, uint64_t to) {
  path_.clear();
  for (Node v = receiver;;) {
    const std::uint32_t first = received_[v * rounds_ + from];
    if (first == 0) break;
    path_.push_back(first - 1);
    const std::uint32_t second = sent_[messages[first - 1].from.node * rounds_ + to];
    if (second == 0) break;
    path_.push_back(second - 1);
    v = messages[second - 1].to.node;
  }
  const auto write = [&](std::uint32_t i, std::uint32_t number) {
    sent_[messages[i].from.node * rounds_ + round[i]] = number;
    received_[messages[i].to.node * rounds_ + round[i]] = number;
  };
  for (const std::uint32_t i : path_) write(i, 0);
  for (const std::uint32_t i : path_) {
    round[i] = from + to - round[i];
    write(i, i + 1);
  }
}

}  // namespace xorder::schedule
