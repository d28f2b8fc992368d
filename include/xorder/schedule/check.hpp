// Checks a schedule without knowing what made it: it carries labels through all steps and watches the links.
//
// A label is put into every slot, the messages of each step move the labels as schedule.hpp says, and
//
//   - each directed link carries at most one message in a step (a crossbar's node sends and receives one);
//   - each path runs along links of the network, without a gap, and connects the two nodes;
//   - no message overwrites a label before it has been sent on or consumed by an update;
//   - at the end each label lies at its goal;
//   - where the schedule computes (Recurrence), each update finds its three operands, all of the same
//     iteration, and each element goes through all iterations in their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

struct CheckReport {
  std::uint64_t steps = 0;
  std::uint64_t lower_bound = 0;
  std::uint64_t links = 0;
  std::uint64_t messages = 0;                 ///< that leave their node
  std::uint64_t crossings = 0;                ///< uses of links
  std::vector<std::uint64_t> step_crossings;  ///< by step; divided by `links`, the utilisation
  std::uint64_t ports_out = 0;                ///< the most messages that a node sends in a step
  std::uint64_t ports_in = 0;                 ///< the most that a node receives in a step
  /// Steps if each node has one port: a step counts as often as a port is used in it, at least once.
  /// src/schedule/one_port.hpp makes them.
  std::uint64_t one_port_steps = 0;

  std::uint64_t conflicts = 0;    ///< uses of a link beyond the first in a step
  std::uint64_t broken = 0;       ///< messages whose path or places are not in the network
  std::uint64_t overwritten = 0;  ///< labels lost before they were sent
  std::uint64_t misplaced = 0;    ///< labels that are not at their goal at the end
  std::uint64_t miscomputed = 0;  ///< updates with wrong operands, elements that miss an iteration
  std::string first_fault;        ///< "step 3: ..."; empty if there is none

  /// Whether everything has arrived, correctly computed.
  bool complete() const { return broken + overwritten + misplaced + miscomputed == 0; }
  bool correct() const { return complete() && conflicts == 0; }
  /// The ports that a node needs, if each takes one message out and one in at a time.
  std::uint64_t ports() const { return std::max(ports_out, ports_in); }
};

/// The most places (nodes × slots) of a schedule that can be checked. Each takes 8 bytes.
inline constexpr std::uint64_t max_checked_places = std::uint64_t{1} << 24;

/// Throws InputError if the schedule has more places than that. The time is that of making the messages and
/// walking their paths, on one core.
CheckReport check(const Schedule& schedule);

/// Checks it, and throws Error naming the first fault if there is one.
void require_correct(const Schedule& schedule);

}  // namespace xorder::schedule
