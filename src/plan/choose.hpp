// The choice among candidates of a plan, and what to say if there is none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "byte_units.hpp"

namespace xorder::plan {

/// `most`, and the halves of it down to `least`.
inline std::vector<std::uint64_t> halves(std::uint64_t most, std::uint64_t least) {
  std::vector<std::uint64_t> sizes{most};
  while (sizes.back() / 2 >= std::max<std::uint64_t>(least, 1)) sizes.push_back(sizes.back() / 2);
  return sizes;
}

/// Memory is a limit and no goal: fresh memory takes time, and so do a first read and a last write that are
/// large. So the fastest plan may be one for less. Tries `make_one` for all sizes, the largest first, and
/// returns the plan that takes the fewest `seconds`; nothing if there is a plan for none of them. (Two
/// sweeps in little memory can take half as long as one in much.)
template <typename Make, typename Seconds>
auto choose(const std::vector<std::uint64_t>& sizes, const Make& make_one, const Seconds& seconds) {
  decltype(make_one(std::uint64_t{})) best;  // an optional plan
  double least = 0;
  for (const std::uint64_t size : sizes) {
    auto candidate = make_one(size);
    if (!candidate) continue;
    const double time = seconds(*candidate);
    if (best && time >= least * (1 - 1e-9)) continue;
    best = std::move(candidate);
    least = time;
  }
  return best;
}

/// For a refusal: how many MiB, more than `memory` bytes, would do. `fits` is false for one less. Nothing if
/// no memory does.
template <typename Fits>
std::optional<std::uint64_t> enough_mebibytes(std::uint64_t memory, const Fits& fits) {
  std::uint64_t too_little = memory / MiB, enough = too_little + 1;
  while (!fits(enough * MiB)) {
    if (enough > UINT64_MAX / MiB / 2) return std::nullopt;
    too_little = std::exchange(enough, 2 * enough);
  }
  while (enough - too_little > 1) {
    const std::uint64_t middle = std::midpoint(too_little, enough);
    (fits(middle * MiB) ? enough : too_little) = middle;
  }
  return enough;
}

}  // namespace xorder::plan
