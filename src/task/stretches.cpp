#include "task/stretches.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "task/workers.hpp"

namespace xorder::task {
namespace {

using Body = std::function<void(std::uint64_t, std::uint64_t)>;
using Range = oneapi::tbb::blocked_range<std::uint64_t>;

// What parallel_for() calls. A thread that splits a range copies this object after its last hand_over(), so
// the thread sanitizer must not watch how it is read.
struct InTasks {
  __attribute__((no_sanitize("thread"))) void operator()(const Range& some) const {
    const InTask task;
    body(some.begin(), some.end());
  }
  const Body& body;
};

}  // namespace

void for_stretches(std::uint64_t count, unsigned threads, const Body& body) {
  Crew helpers(count <= 1 ? 0 : static_cast<int>(thread_count(threads)) - 1, Crew::Kind::spare);
  if (helpers.count() == 0) {
    if (count != 0) body(0, count);
    return;
  }
  CrewArena arena(helpers);
  const Gathering others(arena, helpers, helpers.count());
  const Range all(0, count);
  const InTasks in_tasks{body};
  execute_in(arena, [&] { oneapi::tbb::parallel_for(all, in_tasks); });
}

}  // namespace xorder::task
