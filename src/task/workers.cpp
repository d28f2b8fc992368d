#include "task/workers.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "task/handover.hpp"
#include "task/stretches.hpp"
#include "task/tasks.hpp"

namespace xorder::task {
namespace {

// The number of this process's threads, plus 2. Nothing if there is no /proc.
std::optional<std::uintmax_t> threads_now() {
  struct stat task;
  if (stat("/proc/self/task", &task) != 0) return std::nullopt;
  return task.st_nlink;  // the two are . and ..
}

// A joined thread counts against the system's limits for a moment longer.
void await_end_of_threads(const std::optional<std::uintmax_t>& before) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (threads_now() > before && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

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

int startable_threads(int wanted) {
  const auto before = threads_now();
  int started = 0;
  {
    std::latch counted(1);
    std::vector<std::jthread> threads;
    try {
      for (; started < wanted; ++started) threads.emplace_back([&counted] { counted.wait(); });
    } catch (const std::system_error&) {  // the limit is reached
    } catch (...) {
      counted.count_down();
      throw;
    }
    counted.count_down();
  }
  await_end_of_threads(before);
  return started;
}

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
