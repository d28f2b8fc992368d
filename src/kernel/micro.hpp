// The small operations that all strategies use: copying past the cache, prefetching.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xorder::kernel {

/// A cache line.
constexpr std::size_t line_bytes = 64;

/// Writes gathered bytes to their place. Streaming does not pay below streamed_bytes: a few lines hardly
/// contain a whole one.
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

/// Whether an address is not the beginning of a line.
[[gnu::always_inline]] inline bool within_line(const std::byte* p) {
  return reinterpret_cast<std::uintptr_t>(p) % line_bytes != 0;
}
/// Prefetch line_bytes bytes that may begin within a line, as most do in the arrays of malloc. (A random map
/// of 2 bytes, 256 MiB, source 16 bytes after a line, on AMD Zen 4: 5.6 GB/s with prefetch(), 10.4 with
/// these.)
[[gnu::always_inline]] inline void prefetch_bytes(const std::byte* p) {
  prefetch(p);
  if (within_line(p)) prefetch(p + line_bytes - 1);
}
[[gnu::always_inline]] inline void prefetch_bytes_far(const std::byte* p) {
  prefetch_far(p);
  if (within_line(p)) prefetch_far(p + line_bytes - 1);
}

}  // namespace xorder::kernel
