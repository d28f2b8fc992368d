// The small operations that all strategies use: copying past the cache, prefetching.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xorder::kernel {

/// A cache line.
constexpr std::size_t line_bytes = 64;

/// Writes gathered bytes to their place. Streaming does not pay below streamed_bytes.
using CopyFunction = void (*)(std::byte* target, const std::byte* source, std::uint64_t bytes);
constexpr std::size_t streamed_bytes = 4 * line_bytes;
/// Returns a copy past the cache, or an ordinary memcpy. Any alignment, any length.
CopyFunction copy_function(bool streamed);

/// Orders everything streamed by this thread before its later stores.
void finish_streams();

/// Prefetches a line. (GCC drops a call of a function that has no other effect, unless it is always inlined.)
[[gnu::always_inline]] inline void prefetch(const std::byte* p) { __builtin_prefetch(p, 0, 3); }
/// Prefetches a line into the second-level cache.
[[gnu::always_inline]] inline void prefetch_far(const std::byte* p) { __builtin_prefetch(p, 0, 2); }

/// Whether an address lies within a line, not at its beginning. The line_bytes bytes from there end in
/// another line, which must be prefetched too. (A loop of its own for it is best: where all begin at lines,
/// one loop with this condition in it takes a tenth longer than one without.)
inline bool within_line(const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % line_bytes != 0; }
/// The bytes from an address to the next beginning of a line.
inline std::size_t to_line_end(const std::byte* p) {
  return -reinterpret_cast<std::uintptr_t>(p) % line_bytes;
}

}  // namespace xorder::kernel
