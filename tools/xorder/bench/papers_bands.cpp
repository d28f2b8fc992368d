// The comparisons of Varvarigos and Bertsekas: banded matrices on a hypercube, one and several at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/schedules.hpp"
#include "schedule/banded/band_placement.hpp"
#include "schedule/banded/band_task.hpp"
#include "schedule/banded/banded.hpp"
#include "schedule/banded/banded_batch.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::cli {
namespace {

using drawing::Unit;
using std::uint64_t;

MeasuredFigure over_width(int d) {
  const uint64_t n = uint64_t{1} << d;
  Curves steps("bands",
               fmt::format("Transposition of a matrix with B diagonals on 2^{0} nodes: the closed form's 2^β "
                           "steps, what a search finds for the same places of the columns, and the bound for "
                           "these; the bound for any places, by the distances of the B − 1 nearest nodes and "
                           "as B · H⁻¹(lg B / {0}), H the binary entropy; and a full matrix.",
                           d),
               varvarigos, {"B"}, {"steps"});
  for (uint64_t width = 3; width < n; width += 2) {
    const int beta = schedule::beta_of_bandwidth(width, d);
    const schedule::Diagonals band = schedule::Diagonals::of_width(width).once(d);
    uint64_t closed = uint64_t{1} << std::min(beta, d - 1), best = closed;
    const uint64_t bound = schedule::band_bound(d, beta, band);
    if (best > bound) {
      const auto map = schedule::binary_gray_assignment(d, beta);
      best = std::min(best, schedule::Routed(d, band.width(), schedule::band_task(d, band, {map})).steps());
    }
    steps.add("closed form, 2^β", width, closed);
    steps.add("with search", width, best);
    steps.add("bound", width, bound);
    steps.add("bound for any places", width, schedule::universal_band_bound(d, width));
    steps.add("the same by H⁻¹", static_cast<double>(width), schedule::closed_band_bound(d, width));
    steps.add("(B − 1) / 2", width, (width - 1) / 2);
    steps.add("B − 2", width, width - 2);
    steps.add("a full matrix, N / 2", width, n / 2);
  }
  return steps.take();
}

MeasuredFigure several_at_once() {
  constexpr int d = 9;
  Curves gain("bands-at-once",
              "k bands of half width 2^β at once on 2^9 nodes: how many times faster than one after another, "
              "for placements that were found by search and for the paper's two phases. The inner "
              "parts of the bands use k · β of the 9 dimensions.",
              varvarigos, {"k · β"}, {"gain", Unit::ratio});
  for (int beta = 1; beta <= 4; ++beta) {
    for (int k = 1; k <= d / beta; ++k) {
      const double in_turn = std::ldexp(k, beta);
      const auto found = k == 1 ? std::nullopt : schedule::found_placement(d, beta, k);
      if (k > 1 && !found) continue;
      gain.add(fmt::format("β = {}, search", beta), k * beta,
               k == 1 ? 1 : in_turn / static_cast<double>(found->steps));
    }
    for (int k = 1; k <= d / beta; ++k) {
      gain.add(fmt::format("β = {}, two phases", beta), k * beta,
               std::ldexp(k, beta) / static_cast<double>(schedule::BandedBatch(d, beta, k).steps()));
    }
  }
  return gain.take();
}

}  // namespace

void add_band_figures(Results& results, int dimension) {
  results.figures.push_back(over_width(dimension));
  results.figures.push_back(several_at_once());
}

}  // namespace xorder::cli
