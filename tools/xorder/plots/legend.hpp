// Legends, which all plots have, and the space they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "svg.hpp"

namespace xorder::plots {

/// The number of colours. Series i has colour i modulo this.
inline constexpr int colours = 8;

/// The approximate width of a text in the font of axes.
double text_width(std::string_view text);

struct LegendEntry {
  std::string name;
  int colour = 0;
  bool dashed = false;
};

/// Draws the entries between `left` and `right` from the top, in as many lines as they need; returns their
/// height.
double draw_legend(cli::Canvas& canvas, const std::vector<LegendEntry>& entries, double left, double right);

}  // namespace xorder::plots
