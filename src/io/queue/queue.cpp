#include "io/queue/queue.hpp"

#include <algorithm>
#include <thread>

#include "io/queue/pool_queue.hpp"
#include "io/queue/queues.hpp"

namespace xorder::io {

std::size_t Transfer::bytes() const {
  std::size_t sum = 0;
  for (int i = 0; i < piece_count; ++i) sum += pieces[static_cast<std::size_t>(i)].bytes;
  return sum;
}

std::unique_ptr<Queue> make_queue(QueueKind kind, unsigned depth) {
  depth = std::max(depth, 1u);
  switch (kind) {
    case QueueKind::uring:
      return make_uring_queue(depth);
    case QueueKind::threads:
      return std::make_unique<PoolQueue>(depth, &perform_by_system_calls, PoolQueue::Threads{});
    case QueueKind::in_memory:
      return std::make_unique<PoolQueue>(
          depth, &perform_by_system_calls,
          PoolQueue::Threads{.most = std::min(32u, std::thread::hardware_concurrency() + 1),
                             .bytes_at_once = 256 << 10});
    case QueueKind::mapped:
      return std::make_unique<PoolQueue>(depth, &perform_by_mapping, PoolQueue::Threads{});
  }
  return nullptr;
}

const char* name(QueueKind kind) {
  switch (kind) {
    case QueueKind::uring:
      return "io_uring";
    case QueueKind::threads:
    case QueueKind::in_memory:
      return "threads";
    case QueueKind::mapped:
      return "mapped";
  }
  return "";
}

}  // namespace xorder::io
