#include "plan/tiles/axis_factors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

constexpr uint64_t shortest_run = 64;
constexpr uint64_t most_trials = 65536;  // the largest trial divisor; no run needs more elements

// The divisor of an extent whose ratio to `wanted` is nearest to 1.
uint64_t nearest_divisor(uint64_t extent, double wanted) {
  uint64_t best = 1;
  const auto distance = [&](uint64_t divisor) {
    return std::abs(std::log(static_cast<double>(divisor) / wanted));
  };
  for (uint64_t low = 1; low <= std::min(extent / low, most_trials); ++low) {
    if (extent % low != 0) continue;
    for (const uint64_t divisor : {low, extent / low}) {
      if (distance(divisor) < distance(best)) best = divisor;
    }
  }
  return best;
}

// What is to be brought together: the `axes` fastest axes of an order, and a part of the next one.
struct AxesRun {
  size_t axes = 0;
  uint64_t part = 1;
  bool operator==(const AxesRun&) const = default;
};

AxesRun run_near(const Reordering& what, const std::vector<int>& order, uint64_t bytes) {
  AxesRun run;
  uint64_t length = what.element_bytes;
  for (; run.axes < order.size(); ++run.axes) {
    const uint64_t extent = what.extents[static_cast<size_t>(order[order.size() - 1 - run.axes])];
    if (length * extent > bytes) {
      run.part = nearest_divisor(extent, static_cast<double>(bytes) / static_cast<double>(length));
      break;
    }
    length *= extent;
  }
  return run;
}

// The same reordering with `axis` cut into two axes: `axis` and the next one, of extent `fine`.
Reordering cut(const Reordering& what, int axis, uint64_t fine) {
  Reordering result{what.element_bytes, what.extents, {}, std::nullopt, {}};
  const auto at = result.extents.begin() + axis;
  *at /= fine;
  result.extents.insert(at + 1, fine);
  for (const int each : what.order) {
    result.order.push_back(each > axis ? each + 1 : each);
    if (each == axis) result.order.push_back(axis + 1);
  }
  return result;
}

std::vector<int> ascending(size_t axes) {
  std::vector<int> order;
  for (size_t i = 0; i < axes; ++i) order.push_back(static_cast<int>(i));
  return order;
}

// From the source to an order of its axes, and from there to the target.
std::array<Reordering, 2> by_way_of(const Reordering& what, const std::vector<int>& between) {
  Reordering first = what, second{what.element_bytes, {}, {}, std::nullopt, {}};
  first.order = between;
  for (const int axis : between) second.extents.push_back(what.extents[static_cast<size_t>(axis)]);
  for (const int axis : what.order) {
    second.order.push_back(static_cast<int>(std::ranges::find(between, axis) - between.begin()));
  }
  return {canonical(std::move(first)), canonical(std::move(second))};
}

bool keeps_order(const Reordering& what) { return std::ranges::is_sorted(what.order); }

// The fastest axes of one side, as far as the run goes, become the fastest ones; the others are as on the
// other side.
std::optional<std::array<Reordering, 2>> with_run(const Reordering& what, bool of_target, AxesRun run) {
  const std::vector<int> side = of_target ? what.order : ascending(what.extents.size());
  if (run.axes == side.size()) return std::nullopt;
  const Reordering fine = cut(what, side[side.size() - 1 - run.axes], run.part);
  const std::vector<int> source = ascending(fine.extents.size());
  const std::vector<int>& these = of_target ? fine.order : source;
  std::vector<int> between = of_target ? source : fine.order;
  const std::vector<int> together(these.end() - static_cast<std::ptrdiff_t>(run.axes + 1), these.end());
  std::erase_if(between, [&](int axis) { return std::ranges::find(together, axis) != together.end(); });
  between.insert(between.end(), together.begin(), together.end());
  auto factors = by_way_of(fine, between);
  if (keeps_order(factors[0]) || keeps_order(factors[1])) return std::nullopt;
  return factors;
}

}  // namespace

std::vector<std::array<Reordering, 2>> axis_factors(const Reordering& what, uint64_t largest_run) {
  std::vector<std::array<Reordering, 2>> all;
  if (what.mapped || keeps_order(what)) return all;
  for (const bool of_target : {true, false}) {
    std::vector<AxesRun> tried;
    for (uint64_t bytes = shortest_run; bytes <= std::max(largest_run, shortest_run); bytes *= 4) {
      const AxesRun run = run_near(what, of_target ? what.order : ascending(what.extents.size()), bytes);
      if (std::ranges::find(tried, run) != tried.end()) continue;
      tried.push_back(run);
      if (auto factors = with_run(what, of_target, run)) all.push_back(std::move(*factors));
    }
  }
  return all;
}

}  // namespace xorder::plan
