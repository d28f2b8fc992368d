// Micro-kernels: the fixed-size operations that all strategies use. They permute data of the first-level
// cache in registers. The strategies decide which lines they get, and when.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace xorder::kernel {

/// A cache line.
constexpr std::size_t line_bytes = 64;

/// The lines of a square tile of elements of W = 1, 2, 4, 8 or 16 bytes: K = 64 / W rows on each side, each a
/// line. Element u of source row t goes to element t of target row u. In an xored tile the rows are
/// scrambled: element u of source row t lies at byte (u·W) ^ source_xor[t] of the row, and element t of
/// target row u at byte (t·W) ^ target_xor[u]; the masks are multiples of W.
struct TileRows {
  std::array<const std::byte*, line_bytes> source;
  std::array<std::byte*, line_bytes> target;
  std::array<std::uint8_t, line_bytes> source_xor;
  std::array<std::uint8_t, line_bytes> target_xor;
};

/// The square tiles of one element size. They work in registers, with Highway, which is worth it for every
/// size. Groups of 4 MiB were transposed at 9.0 (1-byte elements), 10.0 (2), 8.9 (4), 9.5 (8), 10.2 (16)
/// GB/s. Plain loops that the compiler vectorised reached 0.5, 1.4, 4.4, 2.2, 4.6 GB/s.
struct TileKernels {
  using Function = void (*)(const TileRows& rows);
  Function plain = nullptr;
  Function xored = nullptr;
};

/// The best kernels for this processor; null functions for other element sizes.
TileKernels tile_kernels(std::uint64_t element_bytes);

/// Copies `bytes`, a power of two and at least 16, so that byte i goes to i ^ mask; mask < bytes.
void copy_xored(std::byte* target, const std::byte* source, std::uint64_t bytes, std::uint64_t mask);

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

}  // namespace xorder::kernel
