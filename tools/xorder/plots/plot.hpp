// A plot with two axes, as SVG for a page (page.hpp), whose style sheet it needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plots/legend.hpp"
#include "plots/overlap.hpp"
#include "plots/scale.hpp"
#include "svg.hpp"

namespace xorder::plots {

/// A value with its spread, which may be 0.
struct Point {
  double x = 0, y = 0;
  double low = y, high = y;
};

struct Series {
  enum class Look {
    line,   ///< from point to point, the spread as a band; where lines coincide, their dashes take turns
    steps,  ///< each point's value holds until the next one's x; the area below is shaded
  };
  std::string name;
  Style style;
  Look look = Look::line;
  std::vector<Point> points;
};

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
  Plot(Axis x, Axis y) : x_(std::move(x)), y_(std::move(y)) {}

  /// The least that the axes show. By default all points; a linear y axis begins at 0.
  void include_x(double value) { x_range_.include(value); }
  void include_y(double value) { y_range_.include(value); }
  void add(Series series);
  /// Covers the whole area, as set by include_x() and include_y().
  void add(Map map) { map_ = std::move(map); }
  /// A horizontal line with a name.
  void add_level(double y, std::string name) {
    include_y(y);
    levels_.push_back({y, std::move(name)});
  }

  /// `title` is for readers who cannot see the drawing.
  std::string svg(std::string_view title, double height = 300) const;

 private:
  struct Range {
    double from = 0, to = 0;
    bool empty = true;
    void include(double value);
    Range on(const Axis& axis) const;
  };
  struct Level {
    double y;
    std::string name;
  };
  struct Area;

  void frame(cli::Canvas& canvas, const Area& area) const;
  void draw_steps(cli::Canvas& canvas, const Area& area, const Series& series) const;
  void draw_lines(cli::Canvas& canvas, const Area& area) const;
  void draw_map(cli::Canvas& canvas, const Area& area) const;
  std::vector<LegendEntry> legend() const;

  Axis x_, y_;
  Range x_range_, y_range_;
  std::vector<Series> series_;
  std::vector<Level> levels_;
  Map map_;
};

}  // namespace xorder::plots
