#include "io/queue/pool_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tuple>

namespace xorder::io {
namespace {

Completion perform_safely(PoolQueue::Perform perform, const Transfer& transfer) {
  try {
    return perform(transfer);
  } catch (...) {  // only std::bad_alloc is possible; it must not leave a thread
    return {transfer.token, ENOMEM, transfer.offset};
  }
}

}  // namespace

PoolQueue::PoolQueue(unsigned depth, Perform perform, Threads threads)
    : depth_(depth),
      perform_(perform),
      bytes_at_once_(threads.bytes_at_once),
      most_threads_(std::min(depth, threads.most)) {
  done_.reserve(depth + most_posts);
}

PoolQueue::~PoolQueue() { end(); }

bool PoolQueue::all_busy() {
  const std::lock_guard lock(mutex_);
  return queued_.size() >= idle_;
}

void PoolQueue::start() {
  constexpr std::size_t stack_bytes = std::size_t{2} << 20;  // sanitizers need almost half of that
  const std::lock_guard lock(mutex_);
  threads_.emplace_back(stack_bytes, [this] { work(); });
  ++idle_;
}

void PoolQueue::grow() {
  try {
    start();
  } catch (const std::system_error&) {
    // Leave half of the threads that the system allows to the tasks that permute.
    most_threads_ = threads_.size() / 2;
    end();
    try {
      while (threads_.size() < most_threads_) start();
    } catch (const std::system_error&) {  // fewer threads do
      most_threads_ = threads_.size();
    }
  }
}

void PoolQueue::end() {
  announce();
  for (std::size_t i = 0; i < threads_.size(); ++i) work_to_do_.release();
  threads_.clear();  // joins; queued transfers are carried out first
  idle_ = 0;
}

void PoolQueue::submit(const Transfer& transfer) {
  if (threads_.size() < most_threads_ && all_busy()) grow();
  if (threads_.empty()) {
    const Completion completion = perform_safely(perform_, transfer);
    const std::lock_guard lock(mutex_);
    complete(completion);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    queued_.push_back(transfer);
  }
  ++unannounced_;
  unannounced_bytes_ += transfer.bytes();
  if (unannounced_bytes_ >= bytes_at_once_) announce();
}

void PoolQueue::announce() {
  for (; unannounced_ > 0; --unannounced_) work_to_do_.release();
  unannounced_bytes_ = 0;
}

void PoolQueue::post(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  // Notify within the lock: once the waiting thread has the token, it may destroy the queue.
  complete({token, 0, 0});
}

void PoolQueue::complete(const Completion& completion) {
  done_.push_back(completion);
  // Only one thread waits, and only while done_ is empty.
  if (done_.size() == 1) something_done_.notify_one();
}

void PoolQueue::wait(std::vector<Completion>& done) {
  announce();
  std::unique_lock lock(mutex_);
  something_done_.wait(lock, [this] { return !done_.empty(); });
  done.insert(done.end(), done_.begin(), done_.end());
  done_.clear();
}

// Each transfer in the queue has its place in the semaphore, so no thread takes what another was woken for.
std::size_t PoolQueue::take(Batch& batch) {
  std::size_t count = 0, bytes = 0;
  do {
    batch[count] = queued_.front();
    queued_.pop_front();
    bytes += batch[count++].bytes();
  } while (count < batch.size() && !queued_.empty() && bytes + queued_.front().bytes() < bytes_at_once_ &&
           work_to_do_.try_acquire());
  return count;
}

void PoolQueue::work() {
  Batch batch;
  std::array<Completion, std::tuple_size_v<Batch>> ended;
  for (;;) {
    work_to_do_.acquire();
    std::unique_lock lock(mutex_);
    if (queued_.empty()) return;
    const std::size_t count = take(batch);
    --idle_;
    lock.unlock();
    for (std::size_t i = 0; i < count; ++i) ended[i] = perform_safely(perform_, batch[i]);
    lock.lock();
    ++idle_;
    for (std::size_t i = 0; i < count; ++i) complete(ended[i]);
  }
}

}  // namespace xorder::io
