// A queue with its own threads, which perform each transfer with a blocking function. (TBB's threads must
// not block: they are for computing.) A thread is started when a transfer finds all others busy, so small
// files get few. Where no thread can be started, submit() performs the transfer.
//
// Handing a transfer to a thread and back takes longer than copying a few KiB. So where transfers only copy,
// a thread takes several small ones at a time, and is woken when there are so many, or the owner waits.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "io/queue/queue.hpp"
#include "semaphore.hpp"
#include "thread.hpp"

namespace xorder::io {

class PoolQueue final : public Queue {
 public:
  /// Performs one transfer. Called by several threads at once.
  using Perform = Completion (*)(const Transfer&);

  struct Threads {
    unsigned most = 32;
    std::size_t bytes_at_once = 0;  ///< of the transfers that a thread takes at a time, if there are several
  };

  PoolQueue(unsigned depth, Perform perform, Threads threads);
  ~PoolQueue() override;
  unsigned depth() const override { return depth_; }
  void submit(const Transfer& transfer) override;
  void post(std::uint64_t token) override;
  void wait(std::vector<Completion>& done) override;

 private:
  bool all_busy();
  /// Starts one more thread. If the system does not allow it, ends half of them and sets most_threads_.
  void grow();
  void start();
  void end();
  void announce();  // wakes threads for what has been queued
  void work();
  using Batch = std::array<Transfer, 16>;  // a thread allocates no memory: it could not report a failure
  /// Takes the next transfers from the queue and returns how many. At least one is there. mutex_ held.
  std::size_t take(Batch& batch);
  void complete(const Completion& completion);  // mutex_ held

  const unsigned depth_;
  const Perform perform_;
  const std::size_t bytes_at_once_;
  std::mutex mutex_;
  std::condition_variable something_done_;
  std::deque<Transfer> queued_;
  std::vector<Completion> done_;
  std::size_t idle_ = 0;     // threads without a transfer
  Semaphore work_to_do_{0};  // transfers announced, and at the end one more for each thread
  std::size_t unannounced_ = 0, unannounced_bytes_ = 0;
  std::deque<Thread> threads_;
  std::size_t most_threads_;
};

}  // namespace xorder::io
