#include "task/stretches.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "task/handover.hpp"
#include "task/workers.hpp"

namespace xorder::task {

void for_stretches(std::uint64_t count, unsigned threads,
                   const std::function<void(std::uint64_t, std::uint64_t)>& body) {
  if (count <= 1 || threads == 1) {
    if (count != 0) body(0, count);
    return;
  }
  Workers workers(threads);
  const oneapi::tbb::blocked_range<std::uint64_t> all(0, count);
  const auto in_task = [&](const oneapi::tbb::blocked_range<std::uint64_t>& some) {
    const InTask task;
    body(some.begin(), some.end());
  };
  workers.execute([&] {
    const AroundTasks around;
    oneapi::tbb::parallel_for(all, in_task);
  });
}

}  // namespace xorder::task
