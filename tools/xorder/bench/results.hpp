// What a benchmark has measured: figures of samples, as JSON and as a page, and compared with another's.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plots/scale.hpp"

namespace xorder::cli {

/// One thing, measured several times, in the order of the measurements.
struct Measured {
  double x = 0;  ///< where on the x axis, or the number of a row
  std::vector<double> samples;

  // Requires samples.
  double median() const { return quantile(0.5); }
  double quantile(double part) const;
  /// Half of the samples, those in the middle, are within this part of the median.
  double spread() const;
  /// By which part the last third of the samples is larger than the first third, by their medians.
  double drift() const;
};

struct MeasuredSeries {
  std::string name;
  std::vector<Measured> points;
};

/// Curves over x, or, where there are rows, dots in rows with the values from left to right.
struct MeasuredFigure {
  std::string id;       ///< the same in every run of the benchmark
  std::string caption;  ///< a sentence or two
  plots::Axis x, values;
  std::vector<std::string> rows;
  std::vector<MeasuredSeries> series;
};

/// What else there is to say in columns.
struct PlainTable {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

/// How quiet the machine was.
struct Noise {
  double seconds = 0;      ///< of the benchmark
  double others = 0;       ///< processors that other processes used, on average
  double stolen = 0;       ///< part of all processors' time that a hypervisor gave to others
  std::size_t rounds = 0;  ///< all was measured once in each; none: it was computed
};

struct Results {
  std::string benchmark, command, started;
  nlohmann::json host;
  Noise noise;
  std::vector<MeasuredFigure> figures;
  std::vector<PlainTable> tables;
};

nlohmann::json results_json(const Results& results);
/// Reads what results_json() has made. Throws InputError, one line, for what is something else or damaged.
Results read_results(const std::filesystem::path& path);

/// What makes the numbers uncertain; empty if nothing does.
std::vector<std::string> warnings(const Results& results);
/// Medians in tables, for a terminal.
std::string results_text(const Results& results);
std::string results_page(const Results& results);

/// Two runs of one benchmark on one page, and in a few lines. Throws InputError if the benchmarks are not the
/// same.
struct Comparison {
  Results a, b;
};
std::string comparison_page(const Comparison& both);
std::string comparison_text(const Comparison& both);

}  // namespace xorder::cli
