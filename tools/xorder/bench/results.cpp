#include "bench/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/file.hpp"
#include "text/json_text.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using Json = nlohmann::json;
using drawing::Unit;

constexpr std::uint64_t largest_results = std::uint64_t{16} << 20;

constexpr std::pair<Unit, const char*> unit_names[] = {{Unit::number, "number"},
                                                       {Unit::seconds, "seconds"},
                                                       {Unit::bytes, "bytes"},
                                                       {Unit::bytes_per_second, "bytes per second"},
                                                       {Unit::ratio, "ratio"}};

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Json axis_json(const drawing::Axis& axis) {
  const auto found = std::ranges::find(unit_names, axis.unit, &std::pair<Unit, const char*>::first);
  return {{"label", axis.label}, {"unit", found->second}, {"logarithmic", axis.logarithmic}};
}

Json figure_json(const MeasuredFigure& figure) {
  Json series = Json::array();
  for (const MeasuredSeries& each : figure.series) {
    Json points = Json::array();
    for (const Measured& point : each.points) {
      points.push_back({{"x", point.x},
                        {"median", point.median()},
                        {"spread", point.spread()},
                        {"drift", point.drift()},
                        {"samples", point.samples}});
    }
    series.push_back({{"name", each.name}, {"points", points}});
  }
  return {{"id", figure.id},
          {"caption", figure.caption},
          {"x", axis_json(figure.x)},
          {"values", axis_json(figure.values)},
          {"rows", figure.rows},
          {"series", series},
          {"computed", figure.computed}};
}

// Reading. Anything malformed throws one of nlohmann's exceptions or this one.
[[noreturn]] void refuse_results(const std::string& name, const std::string& what) {
  throw InputError(fmt::format("{}: {}; make results with xorder bench .. --json FILE", name, what));
}

drawing::Axis axis_of(const Json& from) {
  const std::string unit = from.at("unit");
  const auto found =
      std::ranges::find(unit_names, unit, [](const auto& each) { return std::string(each.second); });
  if (found == std::end(unit_names)) throw std::out_of_range("unit");
  return {from.at("label"), found->first, from.at("logarithmic")};
}

Measured measured_of(const Json& from) {
  Measured point{from.at("x"), from.at("samples")};
  if (point.samples.empty()) throw std::out_of_range("samples");
  for (const double sample : point.samples) {
    if (!std::isfinite(sample) || sample < 0) throw std::out_of_range("samples");
  }
  return point;
}

MeasuredFigure figure_of(const Json& from) {
  MeasuredFigure figure{from.at("id"),
                        from.at("caption"),
                        axis_of(from.at("x")),
                        axis_of(from.at("values")),
                        from.at("rows"),
                        {},
                        from.value("computed", false)};
  for (const Json& each : from.at("series")) {
    MeasuredSeries series{each.at("name"), {}};
    for (const Json& point : each.at("points")) {
      series.points.push_back(measured_of(point));
      const double x = series.points.back().x;
      const bool is_row = x >= 0 && x < static_cast<double>(figure.rows.size()) && x == std::floor(x);
      if (!figure.rows.empty() && !is_row) throw std::out_of_range("x");
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace

std::vector<Measured>& MeasuredFigure::points(const std::string& of_series) {
  auto found = std::ranges::find(series, of_series, &MeasuredSeries::name);
  if (found == series.end()) found = series.insert(found, {of_series, {}});
  return found->points;
}

double Measured::quantile(double part) const {
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double Measured::spread() const {
  const double middle = median();
  return middle > 0 ? (quantile(0.75) - quantile(0.25)) / 2 / middle : 0;
}

double Measured::settled() const {
  return median_of({samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end()});
}

double Measured::drift() const {
  const auto third = static_cast<std::ptrdiff_t>(samples.size() / 3);
  if (third == 0) return 0;
  const double first = median_of({samples.begin(), samples.begin() + third});
  const double last = median_of({samples.end() - third, samples.end()});
  return first > 0 ? last / first - 1 : 0;
}

Json results_json(const Results& results) {
  Json all{
      {"benchmark", results.benchmark}, {"command", results.command},       {"started", results.started},
      {"host", results.host},           {"seconds", results.noise.seconds}, {"rounds", results.noise.rounds},
      {"others", results.noise.others}, {"stolen", results.noise.stolen},   {"warnings", warnings(results)},
      {"figures", Json::array()},       {"tables", Json::array()}};
  for (const MeasuredFigure& figure : results.figures) all["figures"].push_back(figure_json(figure));
  for (const PlainTable& table : results.tables) {
    all["tables"].push_back({{"caption", table.caption}, {"columns", table.head}, {"rows", table.rows}});
  }
  return all;
}

Results read_results(const std::filesystem::path& path) {
  const io::File file = io::File::open_input(path, io::Access::buffered);
  if (file.size() > largest_results) refuse_results(file.name(), "is too large");
  std::string text(file.size(), '\0');
  if (!text.empty()) file.read_exactly(text.data(), text.size(), 0);
  const Json all = parsed_json(text, file.name());
  if (!value_of<std::string>(all, "benchmark")) refuse_results(file.name(), "is not a benchmark result");
  try {
    Results results{all.at("benchmark"), all.at("command"), all.at("started"), all.at("host"), {}, {}, {}};
    results.noise = {all.at("seconds"), all.at("others"), all.at("stolen"), all.at("rounds")};
    for (const Json& each : all.at("figures")) results.figures.push_back(figure_of(each));
    for (const Json& each : all.at("tables")) {
      results.tables.push_back({each.at("caption"), each.at("columns"), each.at("rows")});
    }
    return results;
  } catch (const Json::exception&) {
  } catch (const std::out_of_range&) {
  }
  refuse_results(file.name(), "is damaged: a value is missing or of the wrong kind");
}

std::vector<std::string> warnings(const Results& results) {
  if (results.noise.rounds == 0) return {};
  constexpr double much = 0.05;
  std::vector<double> spreads, drifts;
  for (const MeasuredFigure& figure : results.figures) {
    if (figure.computed) continue;
    for (const MeasuredSeries& series : figure.series) {
      for (const Measured& point : series.points) {
        spreads.push_back(point.spread());
        drifts.push_back(point.drift());
      }
    }
  }
  std::vector<std::string> all;
  const auto percent = [](double part) { return fmt::format("{:.0f} %", 100 * part); };
  if (results.noise.rounds < 3) {
    all.push_back(fmt::format("Each value was measured {}, so its uncertainty is unknown.",
                              results.noise.rounds == 1 ? "once" : "twice"));
  }
  if (results.noise.others > 2 * much) {
    all.push_back(
        fmt::format("Other processes used {:.1f} processors during the measurement.", results.noise.others));
  }
  if (results.noise.stolen > much / 5) {
    all.push_back(fmt::format("The hypervisor gave {} of the processors' time to others.",
                              percent(results.noise.stolen)));
  }
  if (!spreads.empty() && median_of(spreads) > much) {
    all.push_back(fmt::format(
        "The machine is noisy: typically half of the samples differ from the median by more than {}.",
        percent(median_of(spreads))));
  }
  if (!drifts.empty() && std::abs(median_of(drifts)) > much) {
    all.push_back(fmt::format(
        "The machine changed during the measurement: the last values are typically {} {} than the first.",
        percent(std::abs(median_of(drifts))), median_of(drifts) > 0 ? "larger" : "smaller"));
  }
  return all;
}

}  // namespace xorder::cli
