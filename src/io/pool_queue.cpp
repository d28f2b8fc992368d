#include "io/pool_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "xorder/error.hpp"

namespace xorder::io {
namespace {

constexpr unsigned most_threads = 32;

Completion carry_safely(PoolQueue::Carry carry, const Transfer& transfer) {
  try {
    return carry(transfer);
  } catch (...) {  // std::bad_alloc is all that is left; out of a thread it would end the process
    return {transfer.token, ENOMEM, transfer.offset};
  }
}

}  // namespace

PoolQueue::PoolQueue(unsigned depth, const char* name, Carry carry)
    : depth_(depth), name_(name), carry_(carry) {
  done_.reserve(depth);
  try {
    for (unsigned i = 0; i < std::min(depth, most_threads); ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& e) {
    // Fewer do the same, more slowly.
    if (threads_.empty()) throw Error(fmt::format("no thread could be started: {}", e.code().message()));
  }
}

PoolQueue::~PoolQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_to_do_.notify_all();
  threads_.clear();  // joins; what is queued is carried out first
}

void PoolQueue::submit(const Transfer& transfer) {
  {
    const std::lock_guard lock(mutex_);
    queued_.push_back(transfer);
  }
  work_to_do_.notify_one();
}

void PoolQueue::post(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  // Within the lock: once the waiting thread has the token it may destroy the queue.
  complete({token, 0, 0});
}

void PoolQueue::complete(const Completion& completion) {
  done_.push_back(completion);
  // One thread waits, and only while there is nothing.
  if (done_.size() == 1) something_done_.notify_one();
}

void PoolQueue::wait(std::vector<Completion>& done) {
  std::unique_lock lock(mutex_);
  something_done_.wait(lock, [this] { return !done_.empty(); });
  done.insert(done.end(), done_.begin(), done_.end());
  done_.clear();
}

void PoolQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_to_do_.wait(lock, [this] { return ending_ || !queued_.empty(); });
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
