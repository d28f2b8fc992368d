// The machine of virtual processors: runs a schedule as a TBB flow graph, with a node for each processor and
// each link.
//
//   processor 0 ──▶ processor 1      A message refers to what lies in a slot of its sender, or is a copy
//        ▲  ◀──────────┘ │            of it. It crosses the links of its path, which are counted, and its
//        └── processor 2 ◀┘           receiver puts it in its place. Its last link has an edge into the
//                                     receiver.
//
// There is no global barrier. A processor sends its messages for the step, receives those that the step
// brings it, and goes on to its next step as soon as its own messages are there. Messages of later steps wait
// until then. A processor reads what it sends before it writes what it receives. So all of a step's messages
// are read before any is written, as schedule/schedule.hpp requires.
//
// The program decides what a slot holds and where; the machine only moves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "xorder/schedule/schedule.hpp"
#include "xorder/schedule/traffic.hpp"

namespace xorder::machine {

/// What a message carries: bytes in a buffer, which begins at a page if it is as large as one. Buffers are
/// reused for later messages.
class Payload {
 public:
  /// Makes room for this many bytes; what it held is lost. Throws std::bad_alloc.
  std::byte* reset(std::size_t bytes);
  /// Refers to bytes elsewhere without a copy. They must stay unchanged until the message is received.
  void refer(const std::byte* data, std::size_t bytes);
  /// Whether refer() was called last, not reset().
  bool refers() const { return elsewhere_ != nullptr; }
  const std::byte* data() const { return elsewhere_ != nullptr ? elsewhere_ : buffer_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    std::size_t mapped;  // bytes to unmap; 0 if it is from the heap
    void operator()(std::byte* buffer) const;
  };
  std::unique_ptr<std::byte[], Free> buffer_{nullptr, Free{0}};
  const std::byte* elsewhere_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
};

/// What processors do with their own data. It is called by many threads, but by one at a time for each
/// processor.
class Program {
 public:
  virtual ~Program() = default;
  /// Sets the payload to what lies at `from` in a step: refers to it if it stays there until it is received,
  /// or copies it.
  virtual void send(schedule::Place from, std::uint64_t step, Payload& payload) = 0;
  /// Puts the payload at message.to: copies it, or swaps it with what is there.
  virtual void receive(const schedule::Message& message, std::uint64_t step, Payload& payload) = 0;
  /// Whether a processor may send what it received in an earlier step. If not, it need not wait for what it
  /// receives before it sends more, and there are no updates.
  virtual bool sends_what_it_received() const { return true; }
  /// Performs the updates of a step whose messages have arrived. All updates read before any writes.
  virtual void update(std::span<const schedule::Update> updates);
};

/// The processors, ready to run the schedule any number of times. Memory: 3 KiB per processor, 160 bytes per
/// link that is used, 8 per other link, and 256 per message of two epochs. An epoch is as many steps in a
/// row as have 8 messages per processor, or half the slots, if fewer. With link times, also 32 bytes per slot
/// and up to 0.5 KiB per message of a step. The payloads of two epochs, at most, are kept for the next run.
class Machine {
 public:
  /// Must be made and used in the TBB arena in which it is to run. The schedule must outlive it. The schedule
  /// may change between runs, but not its network or slots. With link times, runs also tell how long they
  /// would take on such a network, which costs about as much for each link of a message's path as sending the
  /// message does. Throws InputError if a time is negative or not finite.
  explicit Machine(const schedule::Schedule& schedule,
                   const std::optional<schedule::LinkTimes>& link_times = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs the schedule from its first step to its last, and returns when every processor has finished. Counts
  /// what crosses links (Traffic::schedule is left empty). Messages within a processor are carried out but
  /// not counted; nor are empty ones, which signal "no data". Traffic::time is that of schedule/timing.hpp
  /// with the real sizes of the messages. It depends on them and on the order of the schedule, but not on the
  /// order in which tasks happen to run. Throws what the program throws, and Cancelled soon after a stop is
  /// requested. The data is then in no particular state, and the machine cannot be used again.
  schedule::Traffic run(Program& program, const std::stop_token& stop = {});

 private:
  class Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace xorder::machine
