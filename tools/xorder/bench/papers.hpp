// The papers' comparisons as figures that are computed, from the schedules and the timing model.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "bench/results.hpp"

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
  Curves(std::string id, const std::string& caption, const Source& source, plots::Axis x,
         plots::Axis values) {
    figure_.id = std::move(id);
    figure_.caption =
        fmt::format("{} Source: {}, \"{}\", {}.", caption, source.authors, source.title, source.year);
    figure_.x = std::move(x);
    figure_.values = std::move(values);
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

}  // namespace xorder::cli
