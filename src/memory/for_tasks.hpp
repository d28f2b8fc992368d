// Performs the tasks of an engine by several threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "task/stretches.hpp"
#include "task/threads.hpp"

namespace xorder::memory {

/// Whether more than one thread moves an array. For smaller ones, starting threads costs more than they save.
inline bool in_parallel(std::size_t bytes, unsigned threads) {
  constexpr std::size_t least_bytes = std::size_t{2} << 20;
  return bytes >= least_bytes && threads != 1;
}

/// How many threads may move it at once. `threads` 0 means all processors.
inline unsigned count_threads(std::size_t bytes, unsigned threads) {
  if (!in_parallel(bytes, threads)) return 1;
  return task::thread_count(threads);
}

/// Calls some(first, last) for stretches that together make up the tasks of an array of `bytes`. For small
/// arrays every extra step counts.
template <class Some>
void for_tasks(std::uint64_t tasks, std::size_t bytes, unsigned threads, const Some& some) {
  if (in_parallel(bytes, threads)) {
    task::for_stretches(tasks, threads, some);
  } else if (tasks != 0) {
    some(std::uint64_t{0}, tasks);
  }
}

}  // namespace xorder::memory
