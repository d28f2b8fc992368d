// Tasks that are started one by one and awaited together.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <utility>

#include "task/handover.hpp"

namespace xorder::task {

/// Used by one thread, which need not be one of the arena's.
class Tasks {
 public:
  explicit Tasks(oneapi::tbb::task_arena& arena) : arena_(arena) {}

  /// `function` must not throw.
  template <typename Function>
  void start(Function function) {
    auto task = group_.defer([function = std::move(function)] {
      received();
      function();  // what it has done is handed over by whatever tells that it is done
    });
    hand_over();
    arena_.enqueue(std::move(task));
  }

  /// Until all have ended; meanwhile this thread takes part.
  void wait() {
    const auto wait = [this] {
      const InTask task;
      group_.wait();
    };
    const AroundTasks around;
    arena_.execute(wait);
  }

 private:
  oneapi::tbb::task_arena& arena_;
  oneapi::tbb::task_group group_;
};

}  // namespace xorder::task
