// Parallel loops over stretches of a range.
#pragma once

#include <cstdint>
#include <functional>

namespace xorder::task {

/// Calls body(first, last) for stretches [first, last) that together make up [0, count). Uses
/// thread_count(threads) threads, this one among them, or fewer: Crew::Kind::spare. If that is one, or count
/// is at most 1, this thread does it all. Throws what body throws.
void for_stretches(std::uint64_t count, unsigned threads,
                   const std::function<void(std::uint64_t, std::uint64_t)>& body);

}  // namespace xorder::task
