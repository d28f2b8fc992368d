// Tasks that are started one by one and awaited together.
#pragma once

#include <oneapi/tbb/task_group.h>

#include <utility>

#include "task/handover.hpp"
#include "task/workers.hpp"

namespace xorder::task {

/// For one thread, which need not be one of the workers.
class Tasks {
 public:
  explicit Tasks(Workers& workers) : workers_(workers) {}

  /// Starts a task. `function` must not throw. Without workers it is called here, before start() returns.
  template <typename Function>
  void start(Function function) {
    if (workers_.count == 0) return function();
    auto task = group_.defer([function = std::move(function)] {
      const InTask scope;  // hands over to wait()
      function();          // hands over itself to whom it tells that it is done
    });
    hand_over();
    workers_.arena.enqueue(std::move(task));
  }

  /// Waits until all have ended. Meanwhile this thread runs tasks too.
  void wait() {
    const auto wait = [this] {
      const InTask task;
      group_.wait();
    };
    const AroundTasks around;
    workers_.arena.execute(wait);
  }

 private:
  Workers& workers_;
  oneapi::tbb::task_group group_;
};

}  // namespace xorder::task
