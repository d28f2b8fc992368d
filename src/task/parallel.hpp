// Parallel loops, and memory that tasks pass to each other.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "io/memory.hpp"
#include "task/handover.hpp"

namespace xorder::task {

/// Calls body(0) .. body(count − 1), each in a task of this thread's arena. Returns when all are done.
/// Meanwhile this thread runs no other tasks: one that waits for a disk would keep it from returning.
template <typename Body>
void each(std::uint64_t count, const Body& body) {
  if (count == 1) return body(std::uint64_t{0});
  const auto one = [&body](std::uint64_t i) {
    const InTask task;
    body(i);
  };
  const AroundTasks around;
  oneapi::tbb::this_task_arena::isolate(
      [&] { oneapi::tbb::parallel_for(std::uint64_t{0}, count, one, oneapi::tbb::simple_partitioner()); });
}

/// Reusable buffers. The pool makes as many as are in use at once. It must outlive its buffers.
class BufferPool {
 public:
  using Buffer = std::shared_ptr<std::byte>;

  explicit BufferPool(std::size_t bytes = 0) : bytes_(bytes) {}

  /// From now on buffers have at least `bytes` bytes.
  void at_least(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = std::max(bytes_, bytes);
  }

  Buffer get() {
    io::BlockMemory memory;
    std::size_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      bytes = bytes_;
      if (free_.empty()) {
        free_.reserve(++made_);  // giving back cannot fail
      } else {
        memory = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (memory.data() == nullptr || memory.size() < bytes) {
      memory = {};  // free the old one first
      memory = io::BlockMemory(bytes);
    }
    const auto owner = std::make_shared<Loan>(*this, std::move(memory));
    return {owner, owner->memory.data()};
  }

 private:
  struct Loan {
    ~Loan() {
      const std::lock_guard lock(pool.mutex_);
      pool.free_.push_back(std::move(memory));
    }
    BufferPool& pool;
    io::BlockMemory memory;
  };

  std::size_t bytes_;
  std::mutex mutex_;
  std::vector<io::BlockMemory> free_;
  std::size_t made_ = 0;
};

}  // namespace xorder::task
