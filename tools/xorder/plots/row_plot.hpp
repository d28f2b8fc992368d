// Named rows with dots: for values of things that have no order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plots/scale.hpp"

namespace xorder::plots {

/// A value in a row, with its spread, which may be none.
struct Dot {
  std::size_t row = 0;
  double value = 0, low = value, high = value;
};

struct DotSeries {
  std::string name;
  int colour = 0;
  std::vector<Dot> dots;
};

struct RowPlot {
  Axis values;
  std::vector<std::string> rows;
  std::vector<DotSeries> series;
  /// Where a line stands from top to bottom; none if it is 0.
  double mark = 0;

  /// For a page (page.hpp). `title` is for those who cannot see it.
  std::string svg(std::string_view title) const;
};

}  // namespace xorder::plots
