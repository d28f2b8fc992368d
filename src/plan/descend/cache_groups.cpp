#include "plan/descend/cache_groups.hpp"

#include <algorithm>
#include <bit>

namespace xorder::plan {
namespace {

using std::uint64_t;

// The least width of a patch: shorter runs cost more in calls than in records.
constexpr uint64_t least_run_bytes = 128;

int floor_lg(uint64_t x) { return x == 0 ? 0 : static_cast<int>(std::bit_width(x)) - 1; }

}  // namespace

std::vector<Iterations> Cache::groups(Iterations all, bool ascend) const {
  // The rows of iteration 0 are single records; half of such a group's patch is halo. In the other groups a
  // patch is a few columns wide.
  const bool single = record_by_record();
  const int narrow = single ? 1 : std::max(1, floor_lg(bytes / 4 / record_bytes));
  const int most = single ? 1 : std::max(1, floor_lg(bytes / (4 * std::max(least_run_bytes, record_bytes))));
  std::vector<Iterations> groups;
  int low = all.low;
  if (low < std::min(narrow, all.high)) {
    groups.push_back({low, std::min(narrow, all.high)});
    low = groups.back().high;
  }
  for (int left = (all.high - low + most - 1) / most; left > 0; --left) {
    const int count = (all.high - low + left - 1) / left;
    groups.push_back({low, low + count});
    low += count;
  }
  if (!ascend) std::reverse(groups.begin(), groups.end());
  return groups;
}

Cache::Patch Cache::patch(Iterations group, uint64_t rows, uint64_t halo) const {
  const uint64_t fitting = bytes / record_bytes / (rows + 2 * halo);
  const uint64_t least = std::bit_ceil(std::max<uint64_t>(1, least_run_bytes / record_bytes));
  const uint64_t width =
      std::min(group.stride(), std::max(least, fitting == 0 ? 1 : std::bit_floor(fitting)));
  if (halo == 0) return {rows, width};
  const uint64_t fitting_rows = bytes / record_bytes / width;
  return {std::min(rows, std::max(fitting_rows > 2 * halo ? fitting_rows - 2 * halo : 0, 2 * halo)), width};
}

uint64_t Cache::halo_scratch(Iterations group, uint64_t count) const {
  if (record_by_record()) return 0;
  const uint64_t halo = group.halo_rows();
  const Patch one = patch(group, count / group.stride(), halo);
  return 2 * record_bytes * (one.rows + 2 * halo) * one.width;
}

uint64_t Cache::cyclic_scratch(Iterations group) const {
  if (record_by_record()) return 0;
  const Patch one = patch(group, group.halo_rows() + 1, 0);
  return 2 * record_bytes * one.rows * one.width;
}

}  // namespace xorder::plan
