// Small bit functions that several schedules need.
#pragma once

#include <bit>
#include <cstdint>

namespace xorder::schedule {

/// The low `bits` bits of x in reverse order.
constexpr std::uint64_t reversed(std::uint64_t x, int bits) {
  std::uint64_t y = 0;
  for (int i = 0; i < bits; ++i) y |= (x >> i & 1) << (bits - 1 - i);
  return y;
}

/// The reflected Gray code, and its inverse.
constexpr std::uint64_t gray(std::uint64_t x) { return x ^ (x >> 1); }
constexpr std::uint64_t gray_inverse(std::uint64_t g) {
  for (int shift = 1; shift < 64; shift *= 2) g ^= g >> shift;
  return g;
}

/// 2^e.
constexpr std::uint64_t pow2(int e) { return std::uint64_t{1} << e; }
/// x mod 2^bits.
constexpr std::uint64_t modulo(std::uint64_t x, int bits) { return x & (pow2(bits) - 1); }

}  // namespace xorder::schedule
