#include "task/workers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>

namespace xorder::task {

// TBB counts a task before it has memory for it. If there is none, the group's destructor would wait for that
// task for ever, so the group is never destroyed.
Gathering::End::End() {
  received();  // the memory for the group may have been another thread's
  group = std::make_unique<oneapi::tbb::task_group>();
  try {
    task = group->defer([] {});
  } catch (...) {
    static_cast<void>(group.release());
    throw;
  }
}

Gathering::Gathering(oneapi::tbb::task_arena& arena, Crew& crew, int count)
    : crew_(crew), ends_(static_cast<std::size_t>(count)) {
  for (int i = 0; i < count; ++i) {
    crew.start(i, [&arena, &group = *ends_[static_cast<std::size_t>(i)].group] {
      received();  // so may that for the arena
      arena.execute([&group] { group.wait(); });
    });
  }
}

Gathering::~Gathering() {
  for (End& end : ends_) end.task = {};
  for (int i = 0; i < std::ssize(ends_); ++i) crew_.await(i);
}

Workers::Workers(unsigned threads)
    : wanted(static_cast<int>(thread_count(threads))), crew(wanted), count(crew.count()), arena(crew) {}

std::string Workers::note() const {
  if (count >= wanted) return {};
  return fmt::format("the system allows {} of {} threads", std::max(count, 1), wanted);
}

void Workers::run(const std::function<void()>& body, const std::function<void()>& tick, Stopping& stopping,
                  const std::function<void()>& meanwhile) {
  if (count == 0) {  // run without ticks
    execute_in(arena, body);
    if (meanwhile) meanwhile();
    tick();
    return;
  }
  const int last = count - 1;
  const Gathering others(arena, crew, last);
  std::packaged_task<void()> task([&] { execute_in(arena, body); });
  std::future<void> done = task.get_future();
  crew.start(last, [&task] { task(); });
  const auto ended = [&] {
    done.wait();
    crew.await(last);
  };
  try {
    if (meanwhile) meanwhile();
    while (done.wait_for(std::chrono::milliseconds(30)) != std::future_status::ready) tick();
  } catch (...) {
    stopping.request();
    ended();  // an exception of `body` is dropped here
    throw;
  }
  ended();
  done.get();
  tick();
}

}  // namespace xorder::task
