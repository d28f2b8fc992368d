// A schedule's messages on their way, some steps at a time.
//
// A *window* is as many consecutive steps as have some messages for each processor (plan::window_messages).
// Its messages are made when the first processor comes to it, sorted by sender, with a place for each sorted
// by receiver, so that a processor finds its own without looking at the steps that do not concern it. Two
// windows are open at most: a processor that is ahead waits until the window before the last one is closed,
// which it is when every processor has left it. So what is on its way is bounded, however far some processors
// could run ahead, as those do that only send. Nobody waits forever: what a processor in the older window
// waits for is sent by one that is in it, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "task/flow.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::machine {

struct Envelope;
/// What a processor receives: nothing until the message has arrived.
struct Arrival {
  std::uint64_t step = 0;
  Envelope* envelope = nullptr;
};
/// A way into a processor, with an edge that wakes it.
using Link = task::FlowLink;

/// A message on its way.
struct Envelope {
  schedule::Message message;
  std::uint64_t step = 0;
  Link* link = nullptr;        // by which it comes to its receiver; none within a processor
  Arrival* arrival = nullptr;  // its place among what the receiver waits for
  Payload payload;
};

/// Gives the link for a message. Called by one thread at a time.
using LinkOf = std::function<Link*(const schedule::Message&)>;

class Window {
 public:
  /// The steps from `first` on; keeps the payloads' buffers.
  void make(const schedule::Schedule& schedule, std::uint64_t first, const LinkOf& link_of);
  std::uint64_t end() const { return end_; }

  std::span<Envelope> sent_by(schedule::Node node) { return sent_.of(node); }
  /// A place for each message that it receives, its own among them, in the order of their steps.
  std::span<Arrival> received_by(schedule::Node node) { return received_.of(node); }
  std::span<const schedule::Update> updates_of(schedule::Node node) { return updates_.of(node); }
  /// The steps of its updates.
  std::span<const std::uint64_t> update_steps_of(schedule::Node node) { return update_steps_.of(node); }

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

  // As the schedule gives them; kept for the next steps.
  template <typename T>
  struct Unsorted {
    struct OfStep {
      std::uint64_t step;
      T what;
    };
    std::vector<OfStep> all;
    std::vector<T> of_a_step;
  };

  std::uint64_t end_ = 0;
  Unsorted<schedule::Message> unsorted_;
  Unsorted<schedule::Update> unsorted_updates_;
  ByProcessor<Envelope> sent_;
  ByProcessor<Arrival> received_;
  ByProcessor<std::uint64_t> update_steps_;
  ByProcessor<schedule::Update> updates_;
};

/// May be used by many threads.
class Windows {
 public:
  Windows(const schedule::Schedule& schedule, LinkOf link_of)
      : schedule_(schedule), link_of_(std::move(link_of)) {}

  /// Back to the first step. Not while it is used.
  void restart();
  /// Window number `number`, which every processor enters in turn. Nothing if it does not exist, or is not
  /// open yet: some leave() will return `node` then.
  Window* enter(std::uint64_t number, schedule::Node node);
  /// To be called once by each processor for each window that it entered. Returns those that waited for the
  /// last one to leave.
  std::vector<schedule::Node> leave(std::uint64_t number);

 private:
  struct Open {
    Window window;
    std::atomic<std::uint64_t> inside = 0;  // processors that have not left it
  };
  const schedule::Schedule& schedule_;
  const LinkOf link_of_;
  // A processor takes it only where a window has to be made, or is closed.
  std::mutex mutex_;
  Open open_[2];
  std::atomic<std::uint64_t> made_ = 0;  // windows so far
  std::uint64_t next_step_ = 0;
  std::vector<schedule::Node> waiting_;
};

}  // namespace xorder::machine
