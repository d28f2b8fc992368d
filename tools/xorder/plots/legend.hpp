// Legends, which all plots have, and the space they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plots/marks.hpp"
#include "svg.hpp"

namespace xorder::plots {

/// The approximate width of a text in the font of axes.
double text_width(std::string_view text);

struct LegendEntry {
  std::string name;
  Style style;
  bool line = true, mark = true;
};

/// Draws the entries between `left` and `right` from the top, in as many lines as they need; returns their
/// height.
double draw_legend(cli::Canvas& canvas, const std::vector<LegendEntry>& entries, double left, double right);

}  // namespace xorder::plots
