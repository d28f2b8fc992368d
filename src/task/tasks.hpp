// Tasks that are started one by one and awaited together.
#pragma once

#include <oneapi/tbb/task_group.h>

#include <utility>

#include "task/handover.hpp"
#include "task/workers.hpp"

namespace xorder::task {

/// For one thread, which need not be one of the workers. All of them are there for the tasks.
class Tasks {
 public:
  explicit Tasks(Workers& workers) : workers_(workers), all_(workers.arena, workers.crew, workers.count) {}

  /// Starts a task. `function` must not throw. Without workers it is called here, before start() returns.
  template <typename Function>
  void start(Function function) {
    if (workers_.count == 0) return function();
    auto task = group_.defer([function = std::move(function)] {
      const InTask scope;  // hands over to wait()
      function();          // hands over itself to whom it tells that it is done
    });
    hand_over();
    workers_.arena.execute([&] { group_.run(std::move(task)); });
    // A worker that is falling asleep may overlook a task. TBB allows that because whoever waits for the task
    // does it, but here nobody waits. Leaving the arena is a fence, so a worker cannot overlook both tasks.
    // (task_arena::enqueue() has the fence, but starts a thread of TBB's if the host limits TBB to one.)
    workers_.arena.execute([this] { group_.run([] {}); });
  }

  /// Waits until all have ended. Meanwhile this thread runs tasks too.
  void wait() {
    execute_in(workers_.arena, [this] { group_.wait(); });
  }

 private:
  Workers& workers_;
  Gathering all_;
  oneapi::tbb::task_group group_;
};

}  // namespace xorder::task
