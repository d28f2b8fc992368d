// Finds where curves lie on each other.
#pragma once

#include <cstddef>
#include <vector>

namespace xorder::plots {

struct Spot {
  double x = 0, y = 0;
};
using Curve = std::vector<Spot>;

/// A part of a curve that `of` curves share, so closely that only one would be seen; this one has number
/// `turn` < `of` among them.
struct Stretch {
  Curve spots;
  std::size_t turn = 0, of = 1;
};

/// Cuts curves, given by the places of their points on a drawing, into stretches from left to right. Curves
/// may have points at different x. One that does not go from left to right is a single stretch. Takes
/// time proportional to curves × different x.
std::vector<std::vector<Stretch>> stretches(const std::vector<Curve>& curves);

}  // namespace xorder::plots
