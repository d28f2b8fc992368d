// Named rows with dots, for values of unordered things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plots/marks.hpp"
#include "plots/scale.hpp"

namespace xorder::plots {

/// A value in a row, with its spread, which may be 0.
struct Dot {
  std::size_t row = 0;
  double value = 0, low = value, high = value;
};

struct DotSeries {
  std::string name;
  Style style;
  std::vector<Dot> dots;
};

struct RowPlot {
  Axis values;
  std::vector<std::string> rows;
  std::vector<DotSeries> series;
  /// The value at which to draw a vertical line; none if it is 0.
  double mark = 0;

  /// For a page (page.hpp). `title` is for readers who cannot see the drawing.
  std::string svg(std::string_view title) const;
};

}  // namespace xorder::plots
