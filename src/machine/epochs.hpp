// A schedule's messages on their way, some steps at a time.
//
// An *epoch* is a number of consecutive steps, enough for some messages per processor
// (plan::window_messages). Its messages are made when the first processor enters it, sorted by sender, with
// an Arrival for each sorted by receiver. So a processor finds its own without looking at steps in which it
// has nothing to do. At most two epochs are open. A processor that is ahead waits until the epoch before
// the last one is closed, which happens when every processor has left it. So what is on its way is bounded,
// even if some processors could run far ahead because they only send. No processor waits forever: what one in
// the older epoch waits for is sent by one that is in it, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "machine/simulation.hpp"
#include "task/flow.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::machine {

struct Envelope;
/// What a processor receives; `envelope` is null until the message has arrived.
struct Arrival {
  std::uint64_t step = 0;
  Envelope* envelope = nullptr;
};
/// A link into a processor, with an edge that wakes it.
using Link = task::FlowLink;

/// A message on its way.
struct Envelope {
  schedule::Message message;
  std::uint64_t step = 0;
  Link* link = nullptr;        // by which it reaches its receiver; none if the message stays
  Arrival* arrival = nullptr;  // its entry among those that the receiver waits for
  Payload payload;
};

/// Gives the link for a message. Called by one thread at a time.
using LinkOf = std::function<Link*(const schedule::Message&)>;

class Epoch {
 public:
  /// Makes the epoch of the steps from `first` on. Keeps the payloads' buffers. If `simulated`, it has room
  /// for the sizes of its messages.
  void make(const schedule::Schedule& schedule, std::uint64_t first, const LinkOf& link_of, bool simulated);
  std::uint64_t end() const { return end_; }

  std::span<Envelope> sent_by(schedule::Node node) { return sent_.of(node); }
  /// An Arrival for each message that it receives, including those from itself, in the order of their steps.
  std::span<Arrival> received_by(schedule::Node node) { return received_.of(node); }
  std::span<const schedule::Update> updates_of(schedule::Node node) { return updates_.of(node); }
  /// The steps of its updates.
  std::span<const std::uint64_t> update_steps_of(schedule::Node node) { return update_steps_.of(node); }

  /// Keeps the size of a message, before its receiver can take the payload over. Only if simulated.
  void note_size(const Envelope& envelope) {
    sizes_[static_cast<std::size_t>(&envelope - sent_.items.data())] = envelope.payload.size();
  }
  /// Gives all steps to the simulation. All sizes must have been noted.
  void replay(Simulation& simulation);

 private:
  // Items of every processor, in the order of their steps.
  template <typename T>
  struct ByProcessor {
    std::vector<T> items;
    std::vector<std::uint32_t> begin;  // by processor, and the end
    std::span<T> of(schedule::Node node) {
      return std::span(items).subspan(begin[node], begin[node + 1] - begin[node]);
    }
    template <typename NodeOf>
    void count(schedule::Node processors, std::size_t number, const NodeOf& node_of);
  };

  // In the schedule's order. The memory is kept for the next epoch.
  template <typename T>
  struct Unsorted {
    struct OfStep {
      std::uint64_t step;
      T what;
    };
    std::vector<OfStep> all;
    std::vector<T> of_a_step;
  };

  std::uint64_t first_ = 0, end_ = 0;
  Unsorted<schedule::Message> unsorted_;
  Unsorted<schedule::Update> unsorted_updates_;
  ByProcessor<Envelope> sent_;
  ByProcessor<Arrival> received_;
  ByProcessor<std::uint64_t> update_steps_;
  ByProcessor<schedule::Update> updates_;
  std::vector<std::uint64_t> sizes_;  // of the messages in sent_, if simulated
};

/// May be used by many threads.
class Epochs {
 public:
  /// The simulation, if there is one, gets the messages of each epoch that is closed. It must live as long.
  Epochs(const schedule::Schedule& schedule, LinkOf link_of, Simulation* simulation)
      : schedule_(schedule), link_of_(std::move(link_of)), simulation_(simulation) {}

  /// Goes back to the first step. Must not be called while a processor uses it.
  void restart();
  /// Epoch number `number`; every processor enters all epochs in turn. Null if it does not exist or is not
  /// open yet. In the second case some leave() will return `node`.
  Epoch* enter(std::uint64_t number, schedule::Node node);
  /// Each processor calls this once for each epoch that it entered. The last one to leave gets the
  /// processors that waited for that.
  std::vector<schedule::Node> leave(std::uint64_t number);
  /// Gives the simulation the last epochs. Every processor must have left them.
  void finish();

 private:
  struct Open {
    Epoch epoch;
    std::atomic<std::uint64_t> inside = 0;  // processors that have not left it
  };
  const schedule::Schedule& schedule_;
  const LinkOf link_of_;
  Simulation* const simulation_;
  // Taken only if an epoch has to be made or is closed.
  std::mutex mutex_;
  Open open_[2];
  std::atomic<std::uint64_t> made_ = 0;  // how many epochs have been made
  std::uint64_t next_step_ = 0;
  std::vector<schedule::Node> waiting_;
};

}  // namespace xorder::machine
