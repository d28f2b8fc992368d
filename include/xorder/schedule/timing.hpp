// How long a schedule takes on a network with a start-up time per message, a time per link and a time per
// byte.
//
//   store and forward   startup + links · (per_link + bytes · per_byte); a link is held while it is crossed
//   wormhole            startup + links · per_link + bytes · per_byte; all links are held all the time
//
//   lock step      all nodes begin a step together, when the last one has finished the step before
//   asynchronous   a message begins as soon as what it carries has arrived and its links are free, in the
//                  order of the schedule; it is delivered when the former content of its place has been sent
//
// With one port, a node sends one message and receives one message at a time, and may do both at once; its
// ports are busy until the message has arrived. Then each step is done in rounds, as many as the busiest
// port has messages. In lock step all nodes begin a round together; it takes as long as its longest message.
// Asynchronously, a node's messages go in the order of their rounds, as soon as both of their ports are
// free.
//
// So asynchronous is never slower than lock step, with one port or with all. Computations (updates) take no
// time.
#pragma once

#include <cstdint>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

struct LinkTimes {
  double startup = 0;
  double per_link = 0;
  double per_byte = 0;
  bool one_port = false;

  bool operator==(const LinkTimes&) const = default;
};

/// Throws InputError if a time is negative or not finite.
void check(const LinkTimes& times);

enum class Switching { store_and_forward, wormhole };

struct Duration {
  double lock_step = 0;
  double asynchronous = 0;

  /// One after the other.
  Duration& operator+=(const Duration& next) {
    lock_step += next.lock_step;
    asynchronous += next.asynchronous;
    return *this;
  }
  bool operator==(const Duration&) const = default;
};

/// The times for slots of `bytes` bytes. Throws InputError if a time or size is negative or not finite, or if
/// the schedule has more than 2^24 places (nodes × slots). Makes all messages and walks their paths: some 10
/// ns per link on one core, with one port about twice that.
Duration duration(const Schedule& schedule, double bytes, const LinkTimes& times, Switching switching);

}  // namespace xorder::schedule
