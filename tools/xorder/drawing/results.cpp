// Results as pages and as text.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "bench/results.hpp"
#include "drawing/page.hpp"
#include "drawing/plot.hpp"
#include "host.hpp"
#include "standard_streams.hpp"
#include "text/count_text.hpp"
#include "text/text_width.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using namespace drawing;

// Half of the samples lie between `low` and `high`.
Point point_of(const Measured& point) {
  return {point.x, point.median(), point.quantile(0.25), point.quantile(0.75)};
}

std::vector<Series> series_of(const MeasuredFigure& figure, const std::string& prefix = "",
                              bool dashed = false) {
  std::vector<Series> all;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    Series& series = all.emplace_back(prefix + figure.series[i].name, Style{static_cast<int>(i), dashed});
    for (const Measured& point : figure.series[i].points) series.points.push_back(point_of(point));
  }
  return all;
}

// `mark`: the value at which to draw a line that means "the same"; 0: none.
Plot plot_of(const MeasuredFigure& figure, const Axis& values, std::vector<Series> all, double mark) {
  Plot plot = figure.rows.empty() ? Plot(figure.x, values) : Plot(figure.rows, values);
  for (Series& series : all) plot.add(std::move(series));
  if (mark != 0) plot.add_level(mark);
  return plot;
}
std::string svg_of(const MeasuredFigure& figure, const Axis& values, std::vector<Series> all, double mark) {
  return plot_of(figure, values, std::move(all), mark).svg(figure.caption, 360);
}

std::string row_name(const MeasuredFigure& figure, double x) {
  return figure.rows.empty() ? text_of(x, figure.x.unit) : figure.rows[static_cast<std::size_t>(x)];
}

// "1.2 GiB/s ±3%"; without the spread if it is not known.
std::string cell_of(const Measured& point, Unit unit) {
  const std::string text = text_of(point.median(), unit);
  return point.samples.size() < 2 ? text : fmt::format("{} ±{:.0f}%", text, 100 * point.spread());
}

// The medians, a row for each x.
std::vector<std::vector<std::string>> cells_of(const MeasuredFigure& figure) {
  std::vector<double> xs;
  for (const MeasuredSeries& series : figure.series) {
    for (const Measured& point : series.points) xs.push_back(point.x);
  }
  std::ranges::sort(xs);
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  std::vector<std::vector<std::string>> rows;
  for (const double x : xs) {
    std::vector<std::string> row{row_name(figure, x)};
    for (const MeasuredSeries& series : figure.series) {
      const auto found = std::ranges::find(series.points, x, &Measured::x);
      row.push_back(found == series.points.end() ? "–" : cell_of(*found, figure.values.unit));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> head_of(const MeasuredFigure& figure) {
  std::vector<std::string> head{figure.rows.empty() ? figure.x.label : ""};
  for (const MeasuredSeries& series : figure.series)
    head.push_back(series.name.empty() ? figure.values.label : series.name);
  return head;
}

std::string sureness(const Results& results) {
  if (results.noise.rounds == 0) return "These values were computed, not measured.";
  const auto computed = std::ranges::count_if(results.figures, &MeasuredFigure::computed);
  return fmt::format(
      "{}{} in {:.0f} s, every other one backwards. Values are medians, ± half the width of the "
      "middle "
      "half of the samples.",
      computed == 0 ? ""
                    : fmt::format("The first {} figures were computed, the others measured in ", computed),
      count_text(results.noise.rounds, "round"), results.noise.seconds);
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

// Aligned columns: the first one to the left, the others to the right.
std::string columns(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(head.size(), 0);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  };
  widen(head);
  for (const auto& row : rows) widen(row);
  std::string text;
  const auto line = [&](const std::vector<std::string>& row) {
    std::string joined;
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      joined += (i > 0 ? "  " : "") + padded(row[i], widths[i], i > 0);
    joined.erase(joined.find_last_not_of(' ') + 1);
    text += joined + "\n";
  };
  line(head);
  for (const auto& row : rows) line(row);
  return text;
}

const MeasuredFigure* figure_named(const Results& results, const std::string& id) {
  const auto found = std::ranges::find(results.figures, id, &MeasuredFigure::id);
  return found == results.figures.end() ? nullptr : &*found;
}

// The points that both results have of one figure: b's values divided by a's.
struct Quotients {
  const MeasuredFigure* a;
  const MeasuredFigure* b;
  std::vector<Series> series;
  std::size_t more = 0, less = 0, same = 0;  // numbers of values, judged by the middle halves of the samples
};

std::optional<std::size_t> row_of(const MeasuredFigure& figure, const std::string& name) {
  const auto found = std::ranges::find(figure.rows, name);
  if (found == figure.rows.end()) return std::nullopt;
  return static_cast<std::size_t>(found - figure.rows.begin());
}

Quotients quotients(const MeasuredFigure& a, const MeasuredFigure& b) {
  Quotients all{&a, &b, {}};
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    const auto other = std::ranges::find(b.series, a.series[i].name, &MeasuredSeries::name);
    if (other == b.series.end()) continue;
    Series series{a.series[i].name, {static_cast<int>(i)}, Series::Look::line, {}};
    for (const Measured& point : a.series[i].points) {
      double x = point.x;  // rows are found by their names
      if (!a.rows.empty()) {
        const auto row = row_of(b, a.rows[static_cast<std::size_t>(x)]);
        if (!row) continue;
        x = static_cast<double>(*row);
      }
      const auto found = std::ranges::find(other->points, x, &Measured::x);
      if (found == other->points.end()) continue;
      const Point p = point_of(point), q = point_of(*found);
      if (!(p.low > 0)) continue;
      const Point ratio{point.x, q.y / p.y, q.low / p.high, q.high / p.low};
      series.points.push_back(ratio);
      ++(ratio.low > 1 ? all.more : ratio.high < 1 ? all.less : all.same);
    }
    if (!series.points.empty()) all.series.push_back(std::move(series));
  }
  return all;
}

std::vector<Quotients> quotients(const Comparison& both) {
  if (both.a.benchmark != both.b.benchmark) {
    throw InputError(
        fmt::format("one is of bench {}, the other of bench {}; give two results of the same benchmark",
                    both.a.benchmark, both.b.benchmark));
  }
  std::vector<Quotients> all;
  for (const MeasuredFigure& figure : both.a.figures) {
    const MeasuredFigure* const other = figure_named(both.b, figure.id);
    if (other != nullptr && other->rows.empty() == figure.rows.empty())
      all.push_back(quotients(figure, *other));
  }
  return all;
}

std::string verdict(const Quotients& q) {
  std::string text;
  if (q.a->caption != q.b->caption) text = fmt::format("B measured something else: {} ", q.b->caption);
  return text + fmt::format("{} larger in B, {} smaller, {} the same within the spread of the samples.",
                            q.more, q.less, q.same);
}

}  // namespace

std::string results_text(const Results& results) {
  std::string text;
  for (const MeasuredFigure& figure : results.figures) {
    text += figure.caption + "\n" + columns(head_of(figure), cells_of(figure)) + "\n";
  }
  for (const PlainTable& table : results.tables)
    text += table.caption + "\n" + columns(table.head, table.rows) + "\n";
  text += sureness(results) + "\n";
  for (const std::string& warning : warnings(results)) text += "Warning: " + warning + "\n";
  return printable(text);
}

std::string results_page(const Results& results) {
  Page page("xorder bench " + results.benchmark, results.command);
  for (const std::string& warning : warnings(results)) page.warning(warning);
  auto facts = host_lines(results.host);
  if (!results.started.empty()) facts.emplace_back("begun", results.started);
  page.facts(facts);
  page.text(sureness(results));
  if (std::ranges::any_of(results.figures, [](const MeasuredFigure& figure) { return figure.rows.empty(); }))
    page.text("Overlapping curves alternate dashes and marks.");
  const bool both = results.noise.rounds > 0 && !results.figures.empty() && results.figures.front().computed;
  if (both) page.heading("Computed");
  bool computed = true;
  for (const MeasuredFigure& figure : results.figures) {
    if (both && computed && !figure.computed) page.heading("Measured on this computer");
    computed = figure.computed;
    page.figure(figure.caption, svg_of(figure, figure.values, series_of(figure), 0));
    page.table(head_of(figure), cells_of(figure));
  }
  for (const PlainTable& table : results.tables) {
    page.text(table.caption);
    page.table(table.head, table.rows);
  }
  return page.html();
}

std::string figure_file(const Results& results, const std::string& id) {
  const MeasuredFigure* const figure = figure_named(results, id);
  if (figure != nullptr)
    return plot_of(*figure, figure->values, series_of(*figure), 0).file(figure->caption, 360);
  std::string known;
  for (const MeasuredFigure& each : results.figures) known += " " + each.id;
  throw InputError(fmt::format("--figure: there is no {}; the figures are:{}", id, known));
}

std::string comparison_text(const Comparison& both) {
  std::string text;
  for (const Quotients& q : quotients(both)) {
    text += q.a->caption + "\n" + verdict(q) + "\n";
    std::vector<std::vector<std::string>> rows;
    for (const Series& series : q.series) {
      Measured ratios;
      for (const Point& point : series.points) ratios.samples.push_back(point.y);
      rows.push_back({series.name.empty() ? q.a->values.label : series.name,
                      fmt::format("{:.3g}", ratios.quantile(0)), fmt::format("{:.3g}", ratios.median()),
                      fmt::format("{:.3g}", ratios.quantile(1))});
    }
    text += columns({"B / A", "smallest", "median", "largest"}, rows) + "\n";
  }
  return printable(text);
}

std::string comparison_page(const Comparison& both) {
  const std::vector<Quotients> all = quotients(both);
  Page page("xorder bench " + both.a.benchmark + ", compared", "");
  for (const auto& [letter, results] : {std::pair("A", &both.a), std::pair("B", &both.b)}) {
    page.heading(letter);
    for (const std::string& warning : warnings(*results)) page.warning(warning);
    auto facts = host_lines(results->host);
    facts.emplace_back("command", results->command);
    facts.emplace_back("begun", results->started);
    page.facts(facts);
    page.text(sureness(*results));
  }
  page.heading("B against A");
  for (const Quotients& q : all) {
    const MeasuredFigure& a = *q.a;
    const Axis ratio{"B / A", Unit::ratio, true};
    page.figure(a.caption + " B divided by A: " + verdict(q), svg_of(a, ratio, q.series, 1));
    if (!a.rows.empty()) continue;
    std::vector<Series> curves = series_of(a, "A: ");
    std::ranges::move(series_of(*q.b, "B: ", true), std::back_inserter(curves));
    page.figure("A, and B dashed.", svg_of(a, a.values, curves, 0));
  }
  return page.html();
}

}  // namespace xorder::cli
