#include "task/stretches.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "task/handover.hpp"
#include "task/threads.hpp"

namespace xorder::task {
namespace {

using Body = std::function<void(std::uint64_t, std::uint64_t)>;
using Range = oneapi::tbb::blocked_range<std::uint64_t>;

// What parallel_for() calls. A thread that splits a range copies this object after its last hand_over(), so
// the thread sanitizer must not watch how it is read.
struct InTasks {
  [[gnu::no_sanitize("thread")]] void operator()(const Range& some) const {
    const InTask task;
    body(some.begin(), some.end());
  }
  const Body& body;
};

// As many threads as are wanted, or as the system allows. A try starts threads, which takes long if the
// system refuses. So a success is remembered for good, and a refusal for a second.
int allowed(int wanted) {
  using Clock = std::chrono::steady_clock;
  static std::atomic<int> granted = 1;
  static std::atomic<Clock::rep> refused_until = Clock::time_point::min().time_since_epoch().count();
  if (wanted <= granted) return wanted;
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < refused_until) return granted;
  const int found = 1 + startable_threads(wanted - 1);
  granted = std::max(granted.load(), found);
  if (found < wanted) refused_until = (now + std::chrono::seconds(1)).time_since_epoch().count();
  return found;
}

}  // namespace

// Uses an arena of TBB's usual threads, which stay between calls. Workers are for a whole run: they start and
// end with it, which takes longer than permuting some MiB.
void for_stretches(std::uint64_t count, unsigned threads, const Body& body) {
  const int many = count <= 1 ? 1 : allowed(static_cast<int>(thread_count(threads)));
  if (many == 1) {
    if (count != 0) body(0, count);
    return;
  }
  const Range all(0, count);
  const InTasks in_tasks{body};
  const auto in_arena = [&] {
    const InTask task;
    const AroundTasks around;
    oneapi::tbb::parallel_for(all, in_tasks);
  };
  const AroundTasks around;
  oneapi::tbb::task_arena(many).execute(in_arena);
}

}  // namespace xorder::task
