// Searches for placements of several banded matrices (schedule/banded/band_placement.hpp), and prints the
// table in src/schedule/banded/found_placements.inc.
//
//   placement_bench FROM TO TRIES     for dimensions FROM .. TO
//
// A try takes random constants and random orders of the dimensions, and improves the orders by exchanges
// until the dimensions' loads are as equal as they get. Then it searches for a schedule. The first try is the
// paper's rotation.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "schedule/banded/band_placement.hpp"
#include "schedule/banded/band_task.hpp"
#include "xorder/schedule/check.hpp"

namespace {

using namespace xorder::schedule;
using std::uint64_t;

// Crossings of each bit of the Binary-Gray assignment.
std::vector<double> loads(int d, int beta, const Diagonals& band) {
  std::vector<double> load(static_cast<std::size_t>(d), 0);
  for (const Packet& p : band_task(d, band, {binary_gray_assignment(d, beta)})) {
    for (int j = 0; j < d; ++j)
      load[static_cast<std::size_t>(j)] += static_cast<double>((p.from.node ^ p.to.node) >> j & 1);
  }
  return load;
}

std::vector<Placement> balanced(int d, int matrices, const std::vector<double>& load,
                                std::mt19937_64& random) {
  std::vector<Placement> placement(static_cast<std::size_t>(matrices));
  std::vector<double> sum(load.size(), 0);
  for (Placement& p : placement) {
    p.order.resize(load.size());
    std::iota(p.order.begin(), p.order.end(), 0);
    std::shuffle(p.order.begin(), p.order.end(), random);
    for (std::size_t j = 0; j < load.size(); ++j) sum[static_cast<std::size_t>(p.order[j])] += load[j];
    p.constant = random() & ((uint64_t{1} << d) - 1);
  }
  const auto value = [&] {
    double v = 0;
    for (const double s : sum) v += s * s * s * s;
    return v;
  };
  double best = value();
  // Half of the tries stop at less equal loads: their orders differ more, and some are easier to route.
  const uint64_t exchanges = random() % 2 == 0 ? 2000 : random() % 400;
  for (uint64_t i = 0; i < exchanges; ++i) {
    Placement& p = placement[random() % placement.size()];
    const std::size_t a = random() % load.size(), b = random() % load.size();
    const auto exchange = [&] {
      sum[static_cast<std::size_t>(p.order[a])] += load[b] - load[a];
      sum[static_cast<std::size_t>(p.order[b])] += load[a] - load[b];
      std::swap(p.order[a], p.order[b]);
    };
    exchange();
    if (value() <= best) {
      best = value();
    } else {
      exchange();
    }
  }
  return placement;
}

void search(int d, int beta, int matrices, int tries) {
  const uint64_t reach = uint64_t{1} << beta;
  const Diagonals band{reach, std::min(reach, (uint64_t{1} << d) - 1 - reach)};
  const auto load = loads(d, beta, band);
  const double mean =
      std::accumulate(load.begin(), load.end(), 0.0) * matrices / d / static_cast<double>(uint64_t{1} << d);
  const auto least = std::max(static_cast<uint64_t>(mean + 1 - 1e-9), static_cast<uint64_t>(beta) + 1);
  std::mt19937_64 random(static_cast<uint64_t>(d * 100 + beta * 10 + matrices));
  FoundPlacement best;
  uint64_t rotated = 0, rotated_bound = 0, bound = 0;
  for (int t = 0; t <= tries && (t == 0 || best.steps > least); ++t) {
    std::vector<Placement> placement(static_cast<std::size_t>(matrices));
    if (t == 0) {
      for (int m = 0; m < matrices; ++m) {
        for (int j = 0; j < d; ++j)
          placement[static_cast<std::size_t>(m)].order.push_back((j + m * beta) % d);
      }
    } else {
      placement = balanced(d, matrices, load, random);
    }
    std::vector<xorder::gf2::AffineMap> maps;
    for (const Placement& p : placement) maps.push_back(placed(d, beta, p));
    const auto task = band_task(d, band, maps);
    const uint64_t here = task_bound(task, d);
    if (t > 0 && here >= best.steps) continue;
    const Routed routed(d, band.width() * static_cast<uint64_t>(matrices), task);
    if (!check(routed).correct()) std::abort();
    if (t == 0) {
      rotated = routed.steps();
      rotated_bound = here;
    }
    if (t == 0 || routed.steps() < best.steps) {
      best = {placement, routed.steps()};
      bound = here;
    }
  }
  fmt::print("    {{{}, {}, {}, {}, \"", d, beta, matrices, best.steps);
  for (std::size_t m = 0; m < best.matrices.size(); ++m) {
    fmt::print("{}{}:{}", m ? " " : "", fmt::join(best.matrices[m].order, ""), best.matrices[m].constant);
  }
  fmt::print("\"}},  // bound {}, of equal loads {}; rotated {}, bound {}; in turn {}\n", bound, least,
             rotated, rotated_bound, static_cast<uint64_t>(matrices) << beta);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int tries = std::atoi(arguments[3]);
  for (int d = std::atoi(arguments[1]); d <= std::atoi(arguments[2]); ++d) {
    for (int beta = 1; beta < d; ++beta) {
      for (int k = 2; k * beta <= d; ++k) search(d, beta, k, tries);
    }
  }
}
