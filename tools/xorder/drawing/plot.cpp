#include "drawing/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace xorder::drawing {
namespace {

// All lengths are in SVG user units; a page shows about one a pixel.
constexpr double right_margin = 18;
constexpr double bottom_space = 44;  // for ticks and the label of the axis below
constexpr double least_row_height = 22;
constexpr double apart = 5;  // distance of the lines of a row

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

bool has_place(const Axis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

double widest_of(const auto& things, const auto& text) {
  double widest = 0;
  for (const auto& thing : things) widest = std::max(widest, text_width(text(thing)));
  return widest;
}

}  // namespace

struct Plot::Area {
  Scale across, up;  // rows are numbered on `up`
  double left, top, right, bottom;

  Spot spot(double x, double value) const { return {across.at(x), std::clamp(up.at(value), top, bottom)}; }
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

// No mark lies on the frame.
Plot::Range Plot::shown_values() const {
  Range range = value_range_;
  if (!values_.logarithmic && map_.shades.empty()) {
    range.include(0);
    range.to *= 1.05;
  }
  range = range.on(values_);
  if (!values_.logarithmic) return range;
  const double more = std::pow(range.to / range.from, 0.03);
  return {range.from / more, range.to * more, false};
}

void Plot::add(Series series) {
  std::erase_if(series.points,
                [&](const Point& p) { return !has_place(x_, p.x) || !has_place(values_, p.y); });
  for (const Point& p : series.points) {
    x_range_.include(p.x);
    value_range_.include(p.y);
    if (has_place(values_, p.low)) value_range_.include(p.low);
    value_range_.include(p.high);
  }
  series_.push_back(std::move(series));
}

std::string Plot::svg(std::string_view title, double height) const {
  Canvas canvas;
  const double drawn = draw(canvas, height);
  return canvas.figure(plot_width, drawn, title);
}

std::string Plot::file(std::string_view title, double height) const {
  Canvas canvas;
  const double left = 20, line = 17;
  double y = 26;
  for (std::string_view rest = title; !rest.empty(); y += line) {
    std::size_t end = rest.size();
    while (text_width(rest.substr(0, end)) > plot_width - 2 * left) {
      const std::size_t blank = rest.rfind(' ', end - 1);
      if (blank == std::string_view::npos) break;
      end = blank;
    }
    canvas.text(left, y, "start", "", escaped(rest.substr(0, end), 300));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  canvas.open(fmt::format("translate(0 {})", y - 8));
  const double drawn = draw(canvas, height);
  canvas.close();
  return canvas.document(plot_width, y - 8 + drawn, title, plot_style());
}

// The texts on the left determine the left margin, and the legend the upper one.
double Plot::draw(Canvas& canvas, double height) const {
  const Range x_range = x_range_.on(x_), values = shown_values();
  const double right = plot_width - right_margin;
  const auto rows = static_cast<double>(rows_.size());
  if (!rows_.empty()) {
    const double left =
        std::min(widest_of(rows_, [](const std::string& row) { return row; }) + 16, plot_width * 2 / 5);
    const double top = 12 + draw_legend(canvas, left, right);
    const double row_height = std::max(least_row_height, apart * static_cast<double>(series_.size()) + 12);
    const double bottom = top + row_height * rows;
    const Area area{{values_, values.from, values.to, left, right, 84},
                    {{}, -0.5, rows - 0.5, top, bottom, row_height},
                    left,
                    top,
                    right,
                    bottom};
    frame(canvas, area);
    draw_rows(canvas, area);
    return bottom + bottom_space;
  }
  const double bottom = height - bottom_space;
  const Scale texts(values_, values.from, values.to, bottom, 0, 34);
  const double left =
      std::max(34 + widest_of(texts.ticks(), [](const Tick& tick) { return tick.text; }), 62.0);
  const double top = 12 + draw_legend(canvas, left, right);
  const Area area{{x_, x_range.from, x_range.to, left, right, 84},
                  {values_, values.from, values.to, bottom, top, 34},
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
  return height;
}

// In as many lines as it needs, from the top; returns their height.
double Plot::draw_legend(Canvas& canvas, double left, double right) const {
  constexpr double line = 20, sample = 24, gap = 6, between = 18;
  double x = left, y = 0;
  const auto add = [&](const std::string& name, const Style& style, bool has_line, bool has_mark) {
    const double needed = sample + gap + text_width(name) + between;
    if (y == 0) {
      y = 14;
    } else if (x > left && x + needed > right) {
      x = left;
      y += line;
    }
    if (has_line)
      canvas.path(fmt::format("M{:.1f} {:.1f}h{}", x, y - 4, sample),
                  style.line() + (has_mark ? "" : " thick"));
    Marks mark(style);
    if (has_mark) mark.add({x + sample / 2, y - 4});
    mark.draw(canvas);
    canvas.text(x + sample + gap, y, "start", "axis", escaped(name, 100));
    x += needed;
  };
  for (const Map::Named& each : map_.colours) add(each.name, {each.colour}, true, false);
  for (const Series& each : series_) {
    if (!each.name.empty()) add(each.name, each.style, rows_.empty(), each.look == Series::Look::line);
  }
  return y;
}

void Plot::frame(Canvas& canvas, const Area& area) const {
  const auto level = [&](double y, const char* css) {
    canvas.path(fmt::format("M{}H{:.1f}", place(area.left, y), area.right), css);
  };
  const auto upright = [&](double x, const char* css) {
    canvas.path(fmt::format("M{}V{:.1f}", place(x, area.top), area.bottom), css);
  };
  for (const Tick& tick : rows_.empty() ? area.up.ticks() : std::vector<Tick>()) {
    level(area.up.at(tick.value), "grid");
    canvas.text(area.left - 7, area.up.at(tick.value) + 4, "end", "axis num", tick.text);
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto number = static_cast<double>(row);
    if (row > 0) level(area.up.at(number - 0.5), "grid");
    canvas.text(area.left - 8, area.up.at(number) + 4, "end", "", escaped(rows_[row], 60));
  }
  double free_from = 0;  // no text lies to the right of this
  for (const Tick& tick : area.across.ticks()) {
    const double x = area.across.at(tick.value), half = text_width(tick.text) / 2;
    upright(x, "grid");
    const double begin =
        std::min(x - half, plot_width - 2 * half);  // the last one may be shifted to the left
    if (begin < free_from) continue;
    canvas.text(begin + half, area.bottom + 17, "middle", "axis num", tick.text);
    free_from = x + half + 8;
  }
  canvas.rect(area.left, area.top, area.right - area.left, area.bottom - area.top, "frame");
  canvas.text((area.left + area.right) / 2, area.bottom + 37, "middle", "axis",
              escaped(area.across.label(), 100));
  if (rows_.empty()) canvas.upright(14, (area.top + area.bottom) / 2, "axis", escaped(area.up.label(), 100));
  for (const double value : levels_)
    rows_.empty() ? level(area.up.at(value), "level") : upright(area.across.at(value), "level");
}

// The lines of a row lie one below the other, so that equal values do not hide each other. Where there is
// room, the values of the first series are bars, which are read before dots.
void Plot::draw_rows(Canvas& canvas, const Area& area) const {
  if (!values_.logarithmic && !series_.empty() && series_.size() <= 2) {
    for (const Point& p : series_[0].points) {
      const double begin = area.across.at(0), y = area.up.at(p.x);
      canvas.rect(begin, y - 9, area.across.at(p.y) - begin, 18, series_[0].style.fill(), 2);
      canvas.text(begin + 8, y + 4, "start", "num", text_of(p.y, values_.unit));
    }
  }
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const double shift =
        apart * (static_cast<double>(i) + 0.5) - apart * static_cast<double>(series_.size()) / 2;
    std::string lines;
    Marks marks(series_[i].style);
    for (const Point& p : series_[i].points) {
      const double y = area.up.at(p.x) + shift;
      lines += fmt::format("M{}H{:.1f}", place(area.across.at(p.low), y), area.across.at(p.high));
      marks.add({area.across.at(p.y), y});
    }
    if (lines.empty()) continue;
    canvas.path(lines, series_[i].style.line());
    marks.draw(canvas);
  }
}

void Plot::draw_steps(Canvas& canvas, const Area& area, const Series& series) const {
  const std::vector<Point>& points = series.points;
  if (points.empty()) return;
  std::string line = "M" + place(area.spot(points.front().x, points.front().y));
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Spot spot = area.spot(points[i].x, points[i].y);
    line += fmt::format("H{:.1f}V{:.1f}", spot.x, spot.y);
  }
  canvas.path(fmt::format("{}V{:.1f}H{:.1f}z", line, area.bottom, area.across.at(points.front().x)),
              series.style.fill());
  canvas.path(line, series.style.line());
}

// Areas first, then lines, then marks.
void Plot::draw_lines(Canvas& canvas, const Area& area) const {
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
      canvas.path(polyline(part.spots), drawn[i]->style.line() + shared_class(part));
  }
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Marks marks(drawn[i]->style);
    for (const Spot& spot : marked(curves[i], parts[i], drawn[i]->style.number)) marks.add(spot);
    marks.draw(canvas);
  }
}

// In units of cells, with each shade's cells as lines as thick as a row: paths of small whole numbers are
// short.
void Plot::draw_map(Canvas& canvas, const Area& area) const {
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

}  // namespace xorder::drawing
