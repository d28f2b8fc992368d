#include "plots/row_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plots/legend.hpp"
#include "plots/page.hpp"

namespace xorder::plots {
namespace {

constexpr double least_row_height = 22;
constexpr double apart = 5;  // distance of the lines of a row
constexpr double space_below = 44;

struct Bounds {
  double from = 0, to = 0;
};

Bounds bounds_of(const RowPlot& plot) {
  bool any = false;
  Bounds bounds;
  const auto include = [&](double value) {
    if (!std::isfinite(value) || (plot.values.logarithmic && !(value > 0))) return;
    bounds = any ? Bounds{std::min(bounds.from, value), std::max(bounds.to, value)} : Bounds{value, value};
    any = true;
  };
  for (const DotSeries& series : plot.series) {
    for (const Dot& dot : series.dots) {
      include(dot.low);
      include(dot.high);
    }
  }
  if (plot.mark != 0) include(plot.mark);
  if (!any) return {1, 2};
  if (plot.values.logarithmic) return {bounds.from / 1.1, bounds.to * 1.1};
  return {0, std::max(bounds.to * 1.05, 1e-300)};
}

}  // namespace

std::string RowPlot::svg(std::string_view title) const {
  cli::Canvas canvas;
  double widest = 0;
  for (const std::string& row : rows) widest = std::max(widest, text_width(row));
  const double left = std::min(widest + 16, figure_width / 3), right = figure_width - 18;
  std::vector<LegendEntry> entries;
  for (const DotSeries& each : series) {
    if (!each.name.empty()) entries.push_back({each.name, each.style, false});
  }
  const double top = 12 + draw_legend(canvas, entries, left, right);
  const double lines_height = apart * static_cast<double>(series.size());
  const double row_height = std::max(least_row_height, lines_height + 12);
  const double bottom = top + row_height * static_cast<double>(rows.size());
  const auto [from, to] = bounds_of(*this);
  const Scale scale(values, from, to, left, right, 84);
  const auto middle = [&](std::size_t row) { return top + row_height * (static_cast<double>(row) + 0.5); };

  for (const Tick& tick : scale.ticks()) {
    const double x = scale.at(tick.value);
    canvas.path(fmt::format("M{:.1f} {:.1f}V{:.1f}", x, top, bottom), "grid");
    if (x + text_width(tick.text) / 2 < figure_width)
      canvas.text(x, bottom + 17, "middle", "axis num", tick.text);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row > 0)
      canvas.path(fmt::format("M{:.1f} {:.1f}H{:.1f}", left, middle(row) - row_height / 2, right), "grid");
    canvas.text(left - 8, middle(row) + 4, "end", "", cli::escaped(rows[row], 60));
  }
  if (mark != 0) canvas.path(fmt::format("M{:.1f} {:.1f}V{:.1f}", scale.at(mark), top, bottom), "level");
  canvas.rect(left, top, right - left, bottom - top, "frame");
  canvas.text((left + right) / 2, bottom + 37, "middle", "axis", cli::escaped(scale.label(), 100));

  // The lines of a row lie one below the other, so that equal values do not hide each other.
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double shift = apart * (static_cast<double>(i) + 0.5) - lines_height / 2;
    std::string lines;
    Marks marks(series[i].style);
    for (const Dot& dot : series[i].dots) {
      if (!std::isfinite(dot.value) || (values.logarithmic && !(dot.value > 0))) continue;
      const double y = middle(dot.row) + shift;
      lines += fmt::format("M{:.1f} {:.1f}H{:.1f}", scale.at(dot.low), y, scale.at(dot.high));
      marks.add(scale.at(dot.value), y);
    }
    if (lines.empty()) continue;
    canvas.path(lines, series[i].style.line());
    marks.draw(canvas);
  }
  return canvas.figure(figure_width, bottom + space_below, title);
}

}  // namespace xorder::plots
