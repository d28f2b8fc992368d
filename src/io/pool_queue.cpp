#include "io/pool_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace xorder::io {
namespace {

constexpr unsigned most_threads = 32;

Completion carry_safely(PoolQueue::Carry carry, const Transfer& transfer) {
  try {
    return carry(transfer);
  } catch (...) {  // only std::bad_alloc is possible; it must not leave a thread
    return {transfer.token, ENOMEM, transfer.offset};
  }
}

}  // namespace

PoolQueue::PoolQueue(unsigned depth, Carry carry) : depth_(depth), carry_(carry) {
  done_.reserve(depth);
  const std::size_t wanted = std::min(depth, most_threads);
  start(wanted);
  if (threads_.size() == wanted) return;
  // The system allows no more threads. Leave half of what it allows to those who compute.
  const std::size_t allowed = threads_.size();
  end();
  start(allowed / 2);
}

PoolQueue::~PoolQueue() { end(); }

void PoolQueue::start(std::size_t threads) {
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // fewer threads do
  } catch (...) {
    end();
    throw;
  }
}

void PoolQueue::end() {
  for (std::size_t i = 0; i < threads_.size(); ++i) work_to_do_.release();
  threads_.clear();  // joins; queued transfers are carried out first
}

void PoolQueue::submit(const Transfer& transfer) {
  if (threads_.empty()) {
    const Completion completion = carry_safely(carry_, transfer);
    const std::lock_guard lock(mutex_);
    complete(completion);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    queued_.push_back(transfer);
  }
  work_to_do_.release();
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
  std::unique_lock lock(mutex_);
  something_done_.wait(lock, [this] { return !done_.empty(); });
  done.insert(done.end(), done_.begin(), done_.end());
  done_.clear();
}

void PoolQueue::work() {
  for (;;) {
    work_to_do_.acquire();
    std::unique_lock lock(mutex_);
    if (queued_.empty()) return;
    const Transfer transfer = queued_.front();
    queued_.pop_front();
    lock.unlock();
    const Completion completion = carry_safely(carry_, transfer);
    lock.lock();
    complete(completion);
  }
}

}  // namespace xorder::io
