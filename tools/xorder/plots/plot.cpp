#include "plots/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "plots/page.hpp"

namespace xorder::plots {
namespace {

// All lengths are in SVG user units; a page shows about one a pixel.
constexpr double width = figure_width;
constexpr double right_margin = 18;
constexpr double bottom_space = 44;  // for ticks and the label of the x axis

std::string place(double x, double y) { return fmt::format("{:.1f} {:.1f}", x, y); }
std::string place(const Spot& spot) { return place(spot.x, spot.y); }

std::string polyline(const Curve& curve) {
  std::string path;
  for (const Spot& spot : curve) path += (path.empty() ? "M" : "L") + place(spot);
  return path;
}

// The points of a curve that get a mark: not too many, and where curves share a stretch they take turns.
// Curves with many points begin at different ones, according to their numbers.
Curve marked(const Curve& curve, const std::vector<Stretch>& parts, int number) {
  constexpr std::size_t most = 24;
  const std::size_t every = (curve.size() + most - 1) / most;
  Curve some;
  auto part = parts.begin();
  for (std::size_t i = static_cast<std::size_t>(number) % every; i < curve.size(); i += every) {
    while (std::next(part) != parts.end() && part->spots.back().x <= curve[i].x) ++part;
    if (i / every % part->of == part->turn) some.push_back(curve[i]);
  }
  return some;
}

// The part of a range whose points have a place on the axis.
bool drawable(const Axis& x, const Axis& y, const Point& p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (!x.logarithmic || p.x > 0) &&
         (!y.logarithmic || p.y > 0);
}

}  // namespace

struct Plot::Area {
  Scale x, y;
  double left, top, right, bottom;

  Spot spot(double at_x, double at_y) const { return {x.at(at_x), std::clamp(y.at(at_y), top, bottom)}; }
};

void Plot::Range::include(double value) {
  from = empty ? value : std::min(from, value);
  to = empty ? value : std::max(to, value);
  empty = false;
}

// The range that an axis shows; it is never empty.
Plot::Range Plot::Range::on(const Axis& axis) const {
  Range range = *this;
  if (axis.logarithmic) {
    if (empty || !(from > 0)) range = {1, 10, false};
    if (!(range.from < range.to)) range = {range.from / 2, range.to * 2, false};
  } else {
    if (empty) range = {0, 1, false};
    if (!(range.from < range.to)) range.to = range.from + std::max(1.0, std::abs(range.from));
  }
  return range;
}

void Plot::add(Series series) {
  std::erase_if(series.points, [&](const Point& p) { return !drawable(x_, y_, p); });
  for (const Point& p : series.points) {
    x_range_.include(p.x);
    y_range_.include(p.y);
    if (!y_.logarithmic || p.low > 0) y_range_.include(p.low);
    y_range_.include(p.high);
  }
  series_.push_back(std::move(series));
}

std::string Plot::svg(std::string_view title, double height) const {
  cli::Canvas canvas;
  Range x_range = x_range_.on(x_), y_range = y_range_;
  if (!y_.logarithmic && map_.shades.empty()) {
    y_range.include(0);
    y_range.to *= 1.05;
  }
  y_range = y_range.on(y_);
  if (y_.logarithmic) {  // so that no mark lies on the frame
    const double more = std::pow(y_range.to / y_range.from, 0.03);
    y_range = {y_range.from / more, y_range.to * more, false};
  }

  // The texts of the y axis determine the left margin, and the legend the upper one.
  const Scale texts(y_, y_range.from, y_range.to, height - bottom_space, 0, 34);
  double widest = 0;
  for (const Tick& tick : texts.ticks()) widest = std::max(widest, text_width(tick.text));
  const double left = std::max(34 + widest, 62.0), right = width - right_margin;
  const double top = 12 + draw_legend(canvas, legend(), left, right), bottom = height - bottom_space;
  const Area area{{x_, x_range.from, x_range.to, left, right, 84},
                  {y_, y_range.from, y_range.to, bottom, top, 34},
                  left,
                  top,
                  right,
                  bottom};
  frame(canvas, area);
  if (!map_.shades.empty()) draw_map(canvas, area);
  for (const Series& each : series_) {
    if (each.look == Series::Look::steps) draw_steps(canvas, area, each);
  }
  draw_lines(canvas, area);
  for (const Level& level : levels_) {
    const double y = area.y.at(level.y);
    canvas.path(fmt::format("M{}H{:.1f}", place(left, y), right), "level");
    canvas.text(right - 6, y - 5, "end", "axis", cli::escaped(level.name, 100));
  }
  return canvas.figure(width, height, title);
}

std::vector<LegendEntry> Plot::legend() const {
  std::vector<LegendEntry> entries;
  for (const Map::Named& each : map_.colours) entries.push_back({each.name, {each.colour}, true, false});
  for (const Series& each : series_) {
    if (!each.name.empty()) entries.push_back({each.name, each.style, true, each.look == Series::Look::line});
  }
  return entries;
}

void Plot::frame(cli::Canvas& canvas, const Area& area) const {
  for (const Tick& tick : area.y.ticks()) {
    const double y = area.y.at(tick.value);
    canvas.path(fmt::format("M{}H{:.1f}", place(area.left, y), area.right), "grid");
    canvas.text(area.left - 7, y + 4, "end", "axis num", tick.text);
  }
  double free_from = 0;  // no text lies to the right of this
  for (const Tick& tick : area.x.ticks()) {
    const double x = area.x.at(tick.value), half = text_width(tick.text) / 2;
    canvas.path(fmt::format("M{}V{:.1f}", place(x, area.top), area.bottom), "grid");
    const double begin = std::min(x - half, width - 2 * half);  // the last one may be shifted to the left
    if (begin < free_from) continue;
    canvas.text(begin + half, area.bottom + 17, "middle", "axis num", tick.text);
    free_from = x + half + 8;
  }
  canvas.rect(area.left, area.top, area.right - area.left, area.bottom - area.top, "frame");
  canvas.text((area.left + area.right) / 2, area.bottom + 37, "middle", "axis",
              cli::escaped(area.x.label(), 100));
  canvas.upright(14, (area.top + area.bottom) / 2, "axis", cli::escaped(area.y.label(), 100));
}

void Plot::draw_steps(cli::Canvas& canvas, const Area& area, const Series& series) const {
  const std::vector<Point>& points = series.points;
  if (points.empty()) return;
  std::string line = "M" + place(area.spot(points.front().x, points.front().y));
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Spot spot = area.spot(points[i].x, points[i].y);
    line += fmt::format("H{:.1f}V{:.1f}", spot.x, spot.y);
  }
  canvas.path(fmt::format("{}V{:.1f}H{:.1f}z", line, area.bottom, area.x.at(points.front().x)),
              series.style.fill());
  canvas.path(line, series.style.line());
}

// Areas first, then lines, then marks.
void Plot::draw_lines(cli::Canvas& canvas, const Area& area) const {
  std::vector<const Series*> drawn;
  std::vector<Curve> curves;
  for (const Series& series : series_) {
    if (series.look != Series::Look::line || series.points.empty()) continue;
    drawn.push_back(&series);
    Curve& curve = curves.emplace_back();
    Curve band;
    for (const Point& p : series.points) {
      curve.push_back(area.spot(p.x, p.y));
      band.push_back(area.spot(p.x, p.high));
    }
    if (std::ranges::none_of(series.points, [](const Point& p) { return p.low < p.high; })) continue;
    for (auto p = series.points.rbegin(); p != series.points.rend(); ++p)
      band.push_back(area.spot(p->x, p->low));
    canvas.path(polyline(band) + "z", series.style.fill());
  }
  const auto parts = stretches(curves);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    for (const Stretch& part : parts[i])
      canvas.path(polyline(part.spots), drawn[i]->style.line() + shared_class(part.turn, part.of));
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Marks marks(drawn[i]->style);
    for (const Spot& spot : marked(curves[i], parts[i], drawn[i]->style.number)) marks.add(spot.x, spot.y);
    marks.draw(canvas);
  }
}

// In units of cells, with each shade's cells as lines as thick as a row: paths of small whole numbers are
// short.
void Plot::draw_map(cli::Canvas& canvas, const Area& area) const {
  const int shades = static_cast<int>(map_.colours.size()) * Map::levels;
  canvas.open(fmt::format("translate({:.2f} {:.2f}) scale({:.5f} {:.5f})", area.left, area.bottom,
                          (area.right - area.left) / static_cast<double>(map_.columns),
                          (area.top - area.bottom) / static_cast<double>(map_.rows)));
  for (int shade = 1; shade <= shades; ++shade) {
    std::string cells;
    for (std::size_t row = 0; row < map_.rows; ++row) {
      const std::uint8_t* const line = map_.shades.data() + row * map_.columns;
      std::size_t pen = 0;
      bool moved = false;  // whether the pen is in this row
      for (std::size_t i = 0; i < map_.columns;) {
        if (line[i] != shade) {
          ++i;
          continue;
        }
        std::size_t end = i;
        while (end < map_.columns && line[end] == shade) ++end;
        cells +=
            moved ? fmt::format("m{} 0h{}", i - pen, end - i) : fmt::format("M{} {}.5h{}", i, row, end - i);
        moved = true;
        pen = i = end;
      }
    }
    if (!cells.empty()) {
      canvas.path(cells, fmt::format("cells c{} shade{}",
                                     map_.colours[static_cast<std::size_t>((shade - 1) / Map::levels)].colour,
                                     (shade - 1) % Map::levels));
    }
  }
  canvas.close();
}

}  // namespace xorder::plots
