// Finds where curves lie on each other.
#include <algorithm>
#include <cmath>
#include <optional>

#include "drawing/series.hpp"

namespace xorder::drawing {
namespace {

constexpr double near = 1.2;  // less than the width of a line

using Members = std::vector<std::size_t>;  // numbers of curves

bool goes_right(const Curve& curve) {
  return std::ranges::adjacent_find(curve, [](Spot a, Spot b) { return a.x >= b.x; }) == curve.end();
}

std::vector<double> all_x(const std::vector<Curve>& curves) {
  std::vector<double> xs;
  for (const Curve& curve : curves) {
    for (const Spot& spot : curve) xs.push_back(spot.x);
  }
  std::ranges::sort(xs);
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  return xs;
}

// Its height at each of `xs`; none beyond its ends.
std::vector<std::optional<double>> heights(const Curve& curve, const std::vector<double>& xs) {
  std::vector<std::optional<double>> all(xs.size());
  std::size_t next = 0;  // the first spot that is not to the left
  for (std::size_t i = 0; i < xs.size(); ++i) {
    while (next < curve.size() && curve[next].x < xs[i]) ++next;
    if (next == curve.size()) break;
    const Spot b = curve[next];
    if (b.x == xs[i]) {
      all[i] = b.y;
    } else if (next > 0) {
      const Spot a = curve[next - 1];
      all[i] = a.y + (b.y - a.y) * (xs[i] - a.x) / (b.x - a.x);
    }
  }
  return all;
}

}  // namespace

std::vector<std::vector<Stretch>> stretches(const std::vector<Curve>& curves) {
  std::vector<Curve> right(curves.size());  // others are left empty
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].size() >= 2 && goes_right(curves[i])) right[i] = curves[i];
  }
  const std::vector<double> xs = all_x(right);
  std::vector<std::vector<std::optional<double>>> y;
  for (const Curve& curve : right) y.push_back(heights(curve, xs));

  std::vector<std::vector<Stretch>> all(curves.size());
  std::vector<Members> before(curves.size());  // those that share a curve's last stretch
  for (std::size_t i = 0; i + 1 < xs.size(); ++i) {
    // Each curve belongs to the first one that it is near.
    std::vector<Members> groups;
    for (std::size_t curve = 0; curve < right.size(); ++curve) {
      const auto a = y[curve][i], b = y[curve][i + 1];
      if (!a || !b) continue;
      const auto found = std::ranges::find_if(groups, [&](const Members& group) {
        const auto& first = y[group.front()];
        return std::abs(*first[i] - *a) < near && std::abs(*first[i + 1] - *b) < near;
      });
      found == groups.end() ? groups.push_back({curve}) : found->push_back(curve);
    }
    for (const Members& group : groups) {
      for (std::size_t turn = 0; turn < group.size(); ++turn) {
        const std::size_t curve = group[turn];
        if (before[curve] != group) {
          all[curve].push_back({{{xs[i], *y[curve][i]}}, turn, group.size()});
          before[curve] = group;
        }
        all[curve].back().spots.push_back({xs[i + 1], *y[curve][i + 1]});
      }
    }
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (right[i].empty() && !curves[i].empty()) all[i].push_back({curves[i], 0, 1});
  }
  return all;
}

}  // namespace xorder::drawing
