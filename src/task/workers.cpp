#include "task/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <system_error>

#include "task/handover.hpp"
#include "task/tasks.hpp"
#include "task/threads.hpp"

namespace xorder::task {
namespace {

// TBB starts its threads when it needs them. By then others may have used up the limit. So this occupies all
// workers at once until all have started.
void start_all(Workers& workers) {
  std::mutex mutex;
  std::condition_variable all_here;
  int missing = workers.count;
  // If somebody else limits TBB's threads, some never start.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    all_here.wait_until(lock, end, [&] { return missing == 0; });
  };
  Tasks tasks(workers);
  for (int i = 0; i < workers.count; ++i) {
    tasks.start([&] {
      {
        const std::lock_guard lock(mutex);
        if (--missing == 0) all_here.notify_all();
      }
      wait();
    });
  }
  wait();
  tasks.wait();
}

// One thread is left for run().
int workers_of(int wanted) { return std::max(startable_threads(wanted + 1) - 1, 0); }

}  // namespace

Workers::Workers(unsigned threads)
    : wanted(static_cast<int>(thread_count(threads))),
      count(workers_of(wanted)),
      control(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count) + 1),
      arena(std::max(count, 1), 0) {
  if (count > 0) start_all(*this);
}

std::string Workers::note() const {
  if (count >= wanted) return {};
  return fmt::format("the system allows {} of {} threads", std::max(count, 1), wanted);
}

void Workers::run(const std::function<void()>& body, const std::function<void()>& tick, Stopping& stopping,
                  const std::function<void()>& meanwhile) {
  const auto in_arena = [&] {
    const InTask task;
    body();
  };
  const AroundTasks around;
  std::future<void> done;
  try {
    done = std::async(std::launch::async, [&] { arena.execute(in_arena); });
  } catch (const std::system_error&) {  // no thread is left: run without ticks
    arena.execute(in_arena);
    if (meanwhile) meanwhile();
    tick();
    return;
  }
  try {
    if (meanwhile) meanwhile();
    while (done.wait_for(std::chrono::milliseconds(30)) != std::future_status::ready) tick();
  } catch (...) {
    stopping.request();
    done.wait();
    received();  // an exception of `body` is dropped here
    throw;
  }
  done.get();
  tick();
}

}  // namespace xorder::task
