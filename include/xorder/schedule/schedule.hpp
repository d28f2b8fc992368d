// A schedule: which messages are sent in which step. It is plain data that can be printed, checked
// (check.hpp), drawn and run. It does not matter what a slot holds, an element or a gigabyte.
//
// Every virtual processor (node) owns the same number of *slots*. A *message* copies what lies in one place,
// a slot of a node, to another place, over the links of its path. All messages of a step are read before any
// is written, and each overwrites its target. So one form serves both kinds of schedule:
//
//   exchange   two neighbours send from the slots in which they receive: the arriving word takes the place
//              of the one that left. No slots are needed beyond those of the data.
//   copy       a value that stays is sent to a slot of its own at the receiver
//              (src/schedule/descend/descend.hpp).
//
// Example, the 2 × 2 transposition on a hypercube of two nodes, one step:
//
//            slot 0  slot 1                       slot 0  slot 1
//   node 0     a       b      (0,1) → (1,0)         a       c
//   node 1     c       d      (1,0) → (0,1)         b       d
//
// A path consists of straight legs: from `from` to `via`, on to each of `turns`, and to `to`. On a hypercube
// each leg is a single link, and so is a path on a crossbar. A message holds all links of its path for the
// whole step (wormhole switching). Most paths turn once at most, and have no `turns`.
//
// Steps are generated one at a time, so that a schedule of 10^12 messages takes no memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "xorder/schedule/network.hpp"

namespace xorder::schedule {

struct Place {
  Node node = 0;
  std::uint64_t slot = 0;
  bool operator==(const Place&) const = default;
};

/// A message may stay on its node; then `via` is that node, too, and it uses no link.
struct Message {
  Place from;
  Place to;
  /// Where the path turns first; to.node if it does not.
  Node via = 0;
  /// Where it turns after that; null if it turns at most once. They belong to the schedule.
  const std::vector<Node>* turns = nullptr;

  bool operator==(const Message& other) const {
    return from == other.from && to == other.to && via == other.via &&
           (turns == other.turns || (turns && other.turns && *turns == *other.turns));
  }
};

/// A computation between steps: the value at `element` becomes f_iteration(it, value at `plus`, value at
/// `minus`). All updates of a step read before any writes.
struct Update {
  Place element;
  Place plus;
  Place minus;
  int iteration = 0;
  bool operator==(const Update&) const = default;
};

/// Bit b says whether iteration b reads x + 2^b (plus) and x − 2^b (minus).
struct Reads {
  std::uint64_t plus = ~std::uint64_t{0}, minus = ~std::uint64_t{0};
};

/// The task of a schedule that computes: iterations b of 2^lg_elements elements, in which element x meets
/// x ± 2^b (mod 2^lg_elements). Slots 0 .. V−1 of the node G(i), G the reflected Gray code, hold elements
/// iV .. iV + V − 1.
struct Recurrence {
  /// Its updates read x + 2^b, x − 2^b, or both. In place of one that is not read, they name x itself.
  struct Iteration {
    int b = 0;
    bool plus = true, minus = true;
  };
  int lg_elements = 0;
  std::vector<Iteration> iterations;  ///< in their order

  /// b from `lowest` up to lg_elements − 1, or down from there.
  static Recurrence all(int lg_elements, int lowest, bool ascending, const Reads& reads = {});
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  const Network& network() const { return network_; }
  /// Slots of each node.
  std::uint64_t slots() const { return slots_; }
  std::uint64_t steps() const { return steps_; }
  /// No schedule for this task on this network has fewer steps.
  std::uint64_t lower_bound() const { return lower_bound_; }

  /// Replaces `out` by the messages of a step, step < steps(). Takes time proportional to their number.
  virtual void messages(std::uint64_t step, std::vector<Message>& out) const = 0;

  /// The task: where what lies at `start` before the first step must lie after the last one; nothing if that
  /// slot is only scratch. It is computed from the task, not from the steps.
  virtual std::optional<Place> goal(Place start) const = 0;

  /// Replaces `out` by the updates made when the messages of the step have arrived.
  virtual void updates(std::uint64_t step, std::vector<Update>& out) const;
  virtual std::optional<Recurrence> recurrence() const { return {}; }

  /// What a step moves. Where there is a formula, the messages are not made for it.
  struct Load {
    std::uint64_t messages = 0;   ///< that leave their node
    std::uint64_t crossings = 0;  ///< uses of links
    bool operator==(const Load&) const = default;
  };
  virtual Load load(std::uint64_t step) const;
  /// The sum over all steps.
  virtual Load total() const;

 protected:
  Schedule(Network network, std::uint64_t slots, std::uint64_t steps, std::uint64_t lower_bound)
      : network_(network), slots_(slots), steps_(steps), lower_bound_(lower_bound) {}
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;

 private:
  Network network_;
  std::uint64_t slots_;
  std::uint64_t steps_;
  std::uint64_t lower_bound_;
};

}  // namespace xorder::schedule
