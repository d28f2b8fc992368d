// Summarises a trace: everything that a report prints and draws, in memory that does not grow with the trace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/trace/trace_file.hpp"
#include "report/histogram.hpp"

namespace xorder::cli {

/// Reads are [0], writes are [1].
template <typename T>
using ReadsAndWrites = std::array<T, 2>;

struct TracedFile {
  std::string name;
  std::uint64_t bytes = 0;
};

struct Count {
  std::uint64_t transfers = 0, bytes = 0;
};

/// Bytes that went to each part of a file (rows) in each span of the run (columns).
struct Visits {
  std::size_t columns = 0, rows = 0;
  ReadsAndWrites<std::vector<float>> bytes;  // row by row; empty if there were none
};

struct Survey {
  double seconds = 0;  ///< of the run
  ReadsAndWrites<Count> all;
  std::uint64_t partial = 0;  ///< transfers of parts of blocks
  std::vector<ReadsAndWrites<Count>> files;
  /// For the first files only.
  std::vector<Visits> visits;
  ReadsAndWrites<Histogram> latency{Histogram(1e-8, 1e4, 100), Histogram(1e-8, 1e4, 100)};
  ReadsAndWrites<Histogram> size{Histogram(1, 1e13, 100), Histogram(1, 1e13, 100)};
  /// For each of `spans` equal parts of the run: bytes moved, and the average number of transfers in flight.
  static constexpr std::size_t spans = 240;
  ReadsAndWrites<std::array<double, spans>> moved{}, in_flight{};
};

/// Reads the whole trace. `seconds` is the run's duration, above 0. Throws InputError if the records do not
/// match the files or the duration.
Survey survey(io::TraceReader& trace, const std::vector<TracedFile>& files, double seconds);

}  // namespace xorder::cli
