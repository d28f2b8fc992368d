// Loops over stretches of a range, on threads of their own.
#pragma once

#include <cstdint>
#include <functional>

namespace xorder::task {

/// Calls body(first, last) for stretches that make up 0 .. count − 1, on so many threads (0: one for each
/// processor) or, if that is one or count is at most 1, on this one. Throws what body throws.
void for_stretches(std::uint64_t count, unsigned threads,
                   const std::function<void(std::uint64_t, std::uint64_t)>& body);

}  // namespace xorder::task
