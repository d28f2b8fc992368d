// A plot, as SVG for a page (page.hpp), whose style sheet it needs, or for a file of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drawing/scale.hpp"
#include "drawing/series.hpp"

namespace xorder::drawing {

/// The width of plots, in SVG user units.
inline constexpr double plot_width = 900;

/// How much there is at each place of the plot's area: the number of a shade for each cell, in rows from
/// below.
struct Map {
  /// Shades: 0 is nothing; then `levels` of each of the colours, the faintest first.
  static constexpr int levels = 3;
  struct Named {
    std::string name;
    int colour = 0;
  };
  std::vector<Named> colours;
  std::size_t columns = 0, rows = 0;
  std::vector<std::uint8_t> shades;
};

class Plot {
 public:
  /// Values over x.
  Plot(Axis x, Axis values) : x_(std::move(x)), values_(std::move(values)) {}
  /// Values of unordered things, from left to right. The x of a point is the number of its row.
  Plot(std::vector<std::string> rows, Axis values) : values_(std::move(values)), rows_(std::move(rows)) {}

  /// The least that the axes show. By default all points; a linear axis of values begins at 0.
  void include_x(double x) { x_range_.include(x); }
  void include_value(double value) { value_range_.include(value); }
  void add(Series series);
  /// Covers the whole area, as set by include_x() and include_value().
  void add(Map map) { map_ = std::move(map); }
  /// A line at a value.
  void add_level(double value) {
    include_value(value);
    levels_.push_back(value);
  }

  /// `title` is for readers who cannot see the drawing. Rows have the height that they need instead.
  std::string svg(std::string_view title, double height = 300) const;
  /// A file of its own, with the title above the plot.
  std::string file(std::string_view title, double height = 300) const;

 private:
  struct Range {
    double from = 0, to = 0;
    bool empty = true;
    void include(double value);
    Range on(const Axis& axis) const;
  };
  struct Area;

  /// Returns the height.
  double draw(Canvas& canvas, double height) const;
  Range shown_values() const;
  double draw_legend(Canvas& canvas, double left, double right) const;
  void frame(Canvas& canvas, const Area& area) const;
  void draw_steps(Canvas& canvas, const Area& area, const Series& series) const;
  void draw_lines(Canvas& canvas, const Area& area) const;
  void draw_rows(Canvas& canvas, const Area& area) const;
  void draw_map(Canvas& canvas, const Area& area) const;

  Axis x_, values_;
  std::vector<std::string> rows_;
  Range x_range_, value_range_;
  std::vector<Series> series_;
  std::vector<double> levels_;
  Map map_;
};

}  // namespace xorder::drawing
