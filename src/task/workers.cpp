#include "task/workers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "task/handover.hpp"
#include "xorder/error.hpp"

namespace xorder::task {
namespace {

// How many of so many threads there can be at once. TBB must never fail to start one: it would wait for it
// for ever, or end the program.
int startable(int wanted) {
  std::latch counted(1);
  std::vector<std::jthread> threads;
  try {
    for (int i = 0; i < wanted; ++i) threads.emplace_back([&counted] { counted.wait(); });
  } catch (const std::system_error& e) {
    if (threads.empty()) throw Error(fmt::format("no thread could be started: {}", e.code().message()));
  }
  counted.count_down();
  return static_cast<int>(threads.size());
}

}  // namespace

Workers::Workers(unsigned threads)
    : count(startable(threads != 0 ? static_cast<int>(threads) : oneapi::tbb::info::default_concurrency())),
      control(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count) + 1),
      arena(count, 0) {
  arena.enqueue([] {});  // starts them now, before others take the room that there is for threads
}

void Workers::run(const std::function<void()>& body, const std::function<void()>& tick, Stopping& stopping) {
  const auto in_arena = [&] {
    const InTask task;
    body();
  };
  const AroundTasks around;
  auto done = std::async(std::launch::async, [&] { arena.execute(in_arena); });
  try {
    while (done.wait_for(std::chrono::milliseconds(30)) != std::future_status::ready) tick();
  } catch (...) {
    stopping.request();
    done.wait();
    received();  // also what `body` threw and nobody will catch
    throw;
  }
  done.get();
  tick();
}

}  // namespace xorder::task
