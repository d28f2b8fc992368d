// Whole numbers, rounded up.
#pragma once

#include <cstdint>

namespace xorder::plan {

/// The least number of pieces of b that cover a. Requires b > 0 and a + b < 2^64.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
/// The least multiple of `multiple` from a on.
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}

}  // namespace xorder::plan
