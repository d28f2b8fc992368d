// Parallel loops over stretches of a range, on TBB's threads.
#pragma once

#include <cstdint>
#include <functional>

namespace xorder::task {

/// The most threads that a user may ask for. The C interface and the command line check it.
inline constexpr int max_threads = 1024;

/// How many threads are meant: 0 means one for each processor that this process may use.
unsigned thread_count(unsigned asked);

/// Calls body(first, last) for stretches [first, last) that together make up [0, count). Uses
/// thread_count(threads) threads, or fewer where the system allows fewer. If that is one, or count is at most
/// 1, this thread does it all. Throws what body throws.
void for_stretches(std::uint64_t count, unsigned threads,
                   const std::function<void(std::uint64_t, std::uint64_t)>& body);

}  // namespace xorder::task
