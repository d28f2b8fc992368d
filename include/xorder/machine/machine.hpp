// The machine of virtual processors: runs a schedule as a TBB flow graph, with a node for each processor and
// each link.
//
//   processor 0 ──▶ processor 1      A message is what lies in a slot of its sender, or a copy of it. It crosses the links
//        ▲  ◀──────────┘ │            of its path, which are counted, and its receiver puts it in its place.
//        └── processor 2 ◀┘           The last of these links has an edge into the receiver.
//
// There is no global barrier. A processor sends what a step has it send, receives what the step brings it,
// and goes on to its next step, as soon as its own messages are there; messages of later steps wait until
// then. Since it reads what it sends before it writes what it receives, this has the effect that schedule.hpp
// asks for: all of a step's messages are read before any is written.
//
// What a slot holds, and where, is the program's business: the machine only moves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>

#include "xorder/schedule/schedule.hpp"
#include "xorder/work/work.hpp"

namespace xorder::machine {

/// What a message carries: bytes in a buffer that begins at a page if it is as large as one. Buffers are used
/// again for later messages.
class Payload {
 public:
  /// Room for this many bytes; what it held is lost. Throws std::bad_alloc.
  std::byte* reset(std::size_t bytes);
  /// What lies elsewhere, and stays there unchanged until the message is received: nothing is copied.
  void refer(const std::byte* data, std::size_t bytes);
  /// Whether it is what refer() was told.
  bool refers() const { return elsewhere_ != nullptr; }
  const std::byte* data() const { return elsewhere_ != nullptr ? elsewhere_ : buffer_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    std::size_t mapped;  // bytes, if it is not from the heap
    void operator()(std::byte* buffer) const;
  };
  std::unique_ptr<std::byte[], Free> buffer_{nullptr, Free{0}};
  const std::byte* elsewhere_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
};

/// What processors do with their own data. Called by many threads, but for one processor by one at a time.
class Program {
 public:
  virtual ~Program() = default;
  /// Gives what lies at `from`, on its processor, in a step: refers to it if it stays there until it is
  /// received, or copies it.
  virtual void send(schedule::Place from, std::uint64_t step, Payload& payload) = 0;
  /// Puts it at message.to: copies it, or swaps it with what is there.
  virtual void receive(const schedule::Message& message, std::uint64_t step, Payload& payload) = 0;
  /// Whether what lies at a place can have come there in an earlier step. If not, a processor need not wait
  /// for what it receives before it sends more; and there are no updates.
  virtual bool sends_what_it_received() const { return true; }
  /// What the processor computes when a step's messages have arrived: all updates read before any writes.
  virtual void update(std::span<const schedule::Update> updates);
};

/// The processors, ready to run the schedule as often as one likes. Memory: plan::machine_memory
/// (plan/processors.hpp), and the payloads that were on their way at once, which are kept for the next run:
/// those of as many messages as there are processors and of two steps more, at most.
class Machine {
 public:
  /// To be made and used in the TBB arena in which it shall run. The schedule has to stay; it may change
  /// between runs in everything but its network.
  explicit Machine(const schedule::Schedule& schedule);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs the schedule from its first step to its last; returns when every processor is through. What a
  /// message carries is counted where it crosses (Traffic::schedule is left empty); messages within a
  /// processor are carried out, but not counted; nor are those of no bytes, which only say that nothing
  /// comes. Throws what the program throws, and Cancelled soon after `stop` was requested; the data is then
  /// in no particular state, and the machine of no more use.
  work::Traffic run(Program& program, const std::stop_token& stop = {});

 private:
  class Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace xorder::machine
