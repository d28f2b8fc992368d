// The parts of `xorder bench schedules`: the papers' comparisons as figures that are computed, from the
// schedules and the timing model; and schedules as they run on this computer.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.hpp"
#include "bench/test_matrix.hpp"

namespace xorder::cli {

/// A paper, as docs/theory.md names it.
struct Source {
  const char *authors, *title;
  int year;
};
inline constexpr Source edelman{"A. Edelman", "Optimal matrix transposition and bit reversal on hypercubes",
                                1991};
inline constexpr Source cormen{"T. H. Cormen", "Performing BMMC permutations efficiently", 1997};
inline constexpr Source varvarigos{"E. A. Varvarigos and D. P. Bertsekas",
                                   "Transposition of banded matrices in hypercubes", 1995};
inline constexpr Source tsay{"Tsay, Ding and Wang", "Optimal algorithm for matrix transpose", 2003};
inline constexpr Source hu{"Hu", "Optimal all-to-some personalized communication on hypercubes", 1998};

/// A figure whose series grow point by point, in the order in which their names first occur.
class Curves {
 public:
  Curves(std::string id, const std::string& caption, const Source& source, drawing::Axis x,
         drawing::Axis values) {
    figure_ = {std::move(id),
               fmt::format("{} Source: {}, \"{}\", {}.", caption, source.authors, source.title, source.year),
               std::move(x), std::move(values)};
    figure_.computed = true;
  }
  void add(const std::string& name, double x, double value) { figure_.points(name).push_back({x, {value}}); }
  void add(const std::string& name, std::uint64_t x, std::uint64_t value) {
    add(name, static_cast<double>(x), static_cast<double>(value));
  }
  MeasuredFigure take() { return std::move(figure_); }

 private:
  MeasuredFigure figure_;
};

/// Cormen: rounds of chunks against an all-to-all, over rank γ, layouts and sizes.
void add_rounds_figures(Results& results);
/// Varvarigos and Bertsekas: steps over B on 2^dimension nodes, and the gain of several matrices at once.
void add_band_figures(Results& results, int dimension);

/// Adds figures of what a message costs in the machine of virtual processors, and their cases.
void add_runs_in_memory(Results& results, std::vector<Case>& cases, bool full, const std::stop_token& stop);
/// Adds a table of what these figures come to.
void conclude_runs_in_memory(Results& results);

/// Adds figures of a file that is transposed and bit-reversed by tiles and by schedules, and their cases.
/// Throws InputError if there is not enough room.
void add_runs_on_files(Results& results, std::vector<Case>& cases, std::shared_ptr<const TestMatrix> matrix,
                       bool full);

}  // namespace xorder::cli
