// Tasks that are started one by one and awaited together.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "semaphore.hpp"
#include "task/workers.hpp"

namespace xorder::task {

/// For one thread, which need not be one of the workers. All of them are there for the tasks, and sleep while
/// there are none. (In an arena of TBB's they would look for work for a while first, at the cost of the
/// thread that starts the next transfers.) A task runs in one thread: what is parallel in it belongs into
/// Workers::run().
class Tasks {
 public:
  explicit Tasks(Workers& workers) : crew_(workers.crew), count_(workers.count) {
    for (int thread = 0; thread < count_; ++thread) crew_.start(thread, [this] { work(); });
  }
  ~Tasks() {
    wait();
    for (int thread = 0; thread < count_; ++thread) add({});
    for (int thread = 0; thread < count_; ++thread) crew_.await(thread);
  }
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  /// Starts a task. `function` must not throw. Without workers it is called here, before start() returns.
  void start(std::function<void()> function) {
    if (count_ == 0) return function();
    ++started_;
    add(std::move(function));
  }

  /// Waits until all have ended.
  void wait() {
    for (; started_ > 0; --started_) ended_.acquire();
  }

 private:
  void add(std::function<void()> function) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(function));
    }
    to_do_.release();
  }
  void work() {
    for (;;) {
      to_do_.acquire();
      std::unique_lock lock(mutex_);
      const std::function<void()> function = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (!function) return;
      function();
      ended_.release();
    }
  }

  Crew& crew_;
  int count_;
  std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
  Semaphore to_do_{0}, ended_{0};
  std::size_t started_ = 0;  // and not awaited
};

}  // namespace xorder::task
