#include "io/pool_queue.hpp"

#include <algorithm>

namespace xorder::io {
namespace {

constexpr unsigned most_threads = 32;

}  // namespace

PoolQueue::PoolQueue(unsigned depth, const char* name, Carry carry)
    : depth_(depth), name_(name), carry_(carry) {
  for (unsigned i = 0; i < std::min(depth, most_threads); ++i) threads_.emplace_back([this] { work(); });
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
  done_.push_back({token, 0, 0});
  // Within the lock: once the waiting thread has the token it may destroy the queue.
  something_done_.notify_one();
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
    const Completion completion = carry_(transfer);
    lock.lock();
    done_.push_back(completion);
    something_done_.notify_one();
  }
}

}  // namespace xorder::io
