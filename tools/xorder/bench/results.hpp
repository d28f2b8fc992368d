// The results of a benchmark: figures of samples, as JSON and as a page, and compared with other results.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "drawing/scale.hpp"

namespace xorder::cli {

/// One thing, measured several times, in the order of the measurements.
struct Measured {
  double x = 0;  ///< where on the x axis, or the number of a row
  std::vector<double> samples;

  // Requires samples.
  double median() const { return quantile(0.5); }
  /// The median of the last half of the samples, rounded up: what a thing has become that changes.
  double settled() const;
  double quantile(double part) const;
  /// Half the width of the middle half of the samples, divided by the median.
  double spread() const;
  /// How much larger the median of the last third is than that of the first third, as a fraction.
  double drift() const;
};

struct MeasuredSeries {
  std::string name;
  std::vector<Measured> points;
};

/// Curves over x; or, if there are rows, dots in rows with the values from left to right.
struct MeasuredFigure {
  std::string id;       ///< the same in every run of the benchmark
  std::string caption;  ///< a sentence or two
  drawing::Axis x, values;
  std::vector<std::string> rows{};
  std::vector<MeasuredSeries> series{};
  bool computed = false;  ///< one sample for each point; such figures come first

  /// The points of this series, which is added behind the others if there is none of this name.
  std::vector<Measured>& points(const std::string& of_series);
};

/// A table without figures.
struct PlainTable {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

/// How much the machine was disturbed.
struct Noise {
  double seconds = 0;      ///< of the benchmark
  double others = 0;       ///< processors that other processes used, on average
  double stolen = 0;       ///< fraction of all processors' time that a hypervisor gave to others
  std::size_t rounds = 0;  ///< everything was measured once in each; 0: it was computed
};

struct Results {
  std::string benchmark, command, started;
  nlohmann::json host;
  Noise noise;
  std::vector<MeasuredFigure> figures;
  std::vector<PlainTable> tables;
};

nlohmann::json results_json(const Results& results);
/// Reads the output of results_json(). Throws InputError, one line, if it is something else or damaged.
Results read_results(const std::filesystem::path& path);

/// Sentences about what makes the numbers uncertain; empty if nothing does.
std::vector<std::string> warnings(const Results& results);
/// Medians in tables, for a terminal.
std::string results_text(const Results& results);
std::string results_page(const Results& results);
/// One figure as an SVG file. Throws InputError, with what there is, if none has this id.
std::string figure_file(const Results& results, const std::string& id);

/// Compares two runs of one benchmark, on one page and in a few lines. Throws InputError if the benchmarks
/// differ.
struct Comparison {
  Results a, b;
};
std::string comparison_page(const Comparison& both);
std::string comparison_text(const Comparison& both);

}  // namespace xorder::cli
