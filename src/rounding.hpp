// Whole numbers, rounded up and down.
#pragma once

#include <cstdint>

namespace xorder {

/// The least number of pieces of b that cover a. Requires b > 0.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }
/// The least multiple of `multiple` from a on. Requires multiple > 0 and a result below 2^64.
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}
/// The largest multiple of `multiple` up to a.
constexpr std::uint64_t round_down(std::uint64_t a, std::uint64_t multiple) { return a - a % multiple; }

}  // namespace xorder
