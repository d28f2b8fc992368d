// Micro-kernels: the fixed-size pieces of work that all strategies are made of. They permute what is in the
// first level of the cache, in registers; which lines they are given, and when, is the strategies' business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace xorder::kernel {

/// What the memory moves at once.
constexpr std::size_t line_bytes = 64;

/// The lines of a square tile of elements of W = 1, 2, 4, 8 or 16 bytes: K = 64 / W rows on each side, each a
/// line. Element u of source row t goes to element t of target row u. In an xored tile the rows are scrambled
/// inside: element u of source row t lies at byte (u·W) ^ source_xor[t] of the row, and element t of target
/// row u at byte (t·W) ^ target_xor[u]; the masks are multiples of W.
struct TileRows {
  std::array<const std::byte*, line_bytes> source;
  std::array<std::byte*, line_bytes> target;
  std::array<std::uint8_t, line_bytes> source_xor;
  std::array<std::uint8_t, line_bytes> target_xor;
};

/// The square tiles of one element size. They are in registers, by Highway, because that is worth it for
/// every size: against plain loops that the compiler vectorises as it can, groups of 4 MiB were transposed
/// at 9.0 (1-byte elements), 10.0 (2), 8.9 (4), 9.5 (8), 10.2 (16) instead of 0.5, 1.4, 4.4, 2.2, 4.6 GB/s.
struct TileKernels {
  using Function = void (*)(const TileRows& rows);
  Function plain = nullptr;
  Function xored = nullptr;
};

/// The best that this processor has; nothing (null functions) for other element sizes.
TileKernels tile_kernels(std::uint64_t element_bytes);

/// Copies `bytes`, a power of two and at least 16, so that byte i goes to i ^ mask; mask < bytes.
void copy_xored(std::byte* target, const std::byte* source, std::uint64_t bytes, std::uint64_t mask);

/// A way to write `bytes` that have been put together to their place. Of less than a few lines there is
/// hardly a whole one, so that streaming does not pay.
using CopyFunction = void (*)(std::byte* target, const std::byte* source, std::uint64_t bytes);
constexpr std::size_t streamed_bytes = 4 * line_bytes;
/// Past the cache, or an ordinary memcpy. Any alignment, any length.
CopyFunction copy_function(bool streamed);

/// Orders everything streamed by this thread before its later stores.
void finish_streams();

/// Asks for a line that will be read once. (GCC drops a call of a function that has no effect but this,
/// unless it is always inlined.)
[[gnu::always_inline]] inline void prefetch(const std::byte* p) { __builtin_prefetch(p, 0, 3); }

}  // namespace xorder::kernel
