// The messages of a step when a node has one port: it sends one message and receives one message at a time,
// and may do both at once. The step is then done in *rounds*. By König's theorem as many rounds suffice as
// the busiest node has messages to send or to receive: they are the colours of the edges of a bipartite graph
// from senders to receivers.
#pragma once

#include <cstdint>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

class OnePort {
 public:
  explicit OnePort(std::uint64_t nodes) : sends_(nodes, 0), receives_(nodes, 0) {}

  /// Replaces `round` by the round of each message, and returns the number of rounds. Messages that come
  /// first get early rounds, unless others must make room. Those that stay get round 0, which is not counted
  /// if there are no others. Takes time proportional to the nodes and the messages times the rounds, as long
  /// as few have to make room.
  std::uint64_t split(const std::vector<Message>& messages, std::vector<std::uint64_t>& round);

 private:
  std::uint64_t count(const std::vector<Message>& messages);
  void make_room(const std::vector<Message>& messages, std::vector<std::uint64_t>& round, Node receiver,
                 std::uint64_t from, std::uint64_t to);

  std::vector<std::uint64_t> sends_, receives_;  // by node
  std::uint64_t rounds_ = 0;
  std::vector<std::uint32_t> sent_, received_;  // by node and round: the message's number plus one
  std::vector<std::uint32_t> path_;
};

}  // namespace xorder::schedule
