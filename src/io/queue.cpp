#include "io/queue.hpp"

#include <algorithm>
#include <thread>

#include "io/engines.hpp"
#include "io/pool_queue.hpp"

namespace xorder::io {

std::size_t Transfer::bytes() const {
  std::size_t sum = 0;
  for (int i = 0; i < piece_count; ++i) sum += pieces[static_cast<std::size_t>(i)].bytes;
  return sum;
}

std::unique_ptr<Queue> make_queue(Engine engine, unsigned depth) {
  depth = std::max(depth, 1u);
  switch (engine) {
    case Engine::uring:
      return make_uring_queue(depth);
    case Engine::threads:
      return std::make_unique<PoolQueue>(depth, &carry_by_system_calls, PoolQueue::Threads{});
    case Engine::in_memory:
      return std::make_unique<PoolQueue>(
          depth, &carry_by_system_calls,
          PoolQueue::Threads{.most = std::min(32u, std::thread::hardware_concurrency() + 1),
                             .bytes_at_once = 256 << 10});
    case Engine::mapped:
      return std::make_unique<PoolQueue>(depth, &carry_by_mapping, PoolQueue::Threads{});
  }
  return nullptr;
}

const char* name(Engine engine) {
  switch (engine) {
    case Engine::uring:
      return "io_uring";
    case Engine::threads:
    case Engine::in_memory:
      return "threads";
    case Engine::mapped:
      return "mapped";
  }
  return "";
}

}  // namespace xorder::io
