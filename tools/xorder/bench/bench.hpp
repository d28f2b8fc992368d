// The subcommands of "xorder bench", one source file each, and what they share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/results.hpp"
#include "text_file.hpp"

namespace xorder::cli {

/// disk: how fast a disk reads and writes, by request size; stores the result for later plans.
void add_bench_disk(CLI::App& bench);
/// cache: what the order of memory accesses costs.
void add_bench_cache(CLI::App& bench);
/// memory: reordering in memory compared with memcpy.
void add_bench_memory(CLI::App& bench);
/// files: one permutation of a file in every way, compared with cp.
void add_bench_files(CLI::App& bench);
/// schedules: the papers' comparisons, computed, and the schedules as they run here.
void add_bench_schedules(CLI::App& bench);
/// compare: two results of one benchmark.
void add_bench_compare(CLI::App& bench);
/// draw: a result, or one of its figures.
void add_bench_draw(CLI::App& bench);

/// The files of --json and --html. The constructor ensures that they can be created, before the measurement.
class OutputFiles {
 public:
  /// An empty name means no file. Throws InputError if one cannot be created, or if both are the same.
  OutputFiles(const std::string& json, const std::string& html, bool overwrite);
  void write(const Results& results);

 private:
  std::optional<TextFile> json_, html_;
};

/// Results with only the command and the computer, and the disk of a directory if there is one.
Results new_results(const std::string& benchmark, const std::filesystem::path& directory = {});

/// What to measure for one point of a figure.
struct Case {
  std::string what;  ///< for the progress bar
  std::function<double()> measure;
  std::size_t figure = 0;
  std::string series;
  double x = 0;
};

struct Rounds {
  double seconds = 40;  ///< no round begins that would end later, except for the first ones:
  std::size_t at_least = 1;
  std::size_t most = 15;
  bool bar = true;
  std::stop_token stop{};
};

/// Measures, with every other round backwards, so that steady changes affect all cases alike. Adds the
/// samples to the figures of `results` and sets its noise. Does nothing if there are no cases. Throws
/// Cancelled.
void measure_in_turn(Results& results, const std::vector<Case>& cases, const Rounds& rounds);

/// A benchmark that is measured in rounds.
class Benchmark {
 public:
  virtual ~Benchmark() = default;
  /// Adds figures with their series to the results, and returns the cases to measure. Called once.
  virtual std::vector<Case> cases(Results& results) = 0;
  /// Adds tables when everything has been measured.
  virtual void conclude(Results&) {}
};

/// What the user asked for.
struct Extent {
  std::filesystem::path directory;  ///< if the benchmark has one
  std::uint64_t bytes = 0;          ///< of the largest array or of the file
  bool full = false;
  bool overwrite = false;             ///< for files of the benchmark's own options
  std::vector<OutputOption> outputs;  ///< all other outputs, which these must not be
  std::stop_token stop{};             ///< for measurements of many seconds
};

struct BenchmarkCommand {
  std::string name, summary, description, footer;
  std::uint64_t quick_bytes = 0, full_bytes = 0, least_bytes = 0;  ///< 0: without --size and --full
  std::string what_bytes{};  ///< what --size is the size of: "the largest array"
  bool has_directory = false;
  std::function<void(CLI::App&)> add_options{};  ///< the benchmark's own options
  std::function<std::unique_ptr<Benchmark>(const Extent&)> make;
};

/// Adds the command with --full, --size, --rounds, --json, --html, --force and --quiet.
void add_benchmark(CLI::App& bench, BenchmarkCommand command);
/// The main function of a program that is such a command.
int benchmark_program(int argc, char** argv, BenchmarkCommand command);

}  // namespace xorder::cli
