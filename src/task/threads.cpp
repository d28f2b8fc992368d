#include "task/threads.hpp"

#include <oneapi/tbb/info.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <latch>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

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

}  // namespace

unsigned thread_count(unsigned asked) {
  return asked != 0 ? asked : static_cast<unsigned>(oneapi::tbb::info::default_concurrency());
}

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

}  // namespace xorder::task
