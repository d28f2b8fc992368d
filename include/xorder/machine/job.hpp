// The work of virtual processors.
#pragma once

#include "xorder/schedule/traffic.hpp"
#include "xorder/work/work.hpp"

namespace xorder::machine {

/// Work in which virtual processors send each other messages by a schedule. If it was made with link times,
/// forecast() simulates a run, which takes some tenths of a microsecond for each message, and 40 bytes for
/// each slot; otherwise it returns nothing. Each stripe or batch of blocks is a run of the schedule of its
/// own: traffic() counts steps once, and messages as often as they were sent.
class Job : public work::Work, public schedule::Sender {
 protected:
  explicit Job(work::Frame frame);
};

}  // namespace xorder::machine
