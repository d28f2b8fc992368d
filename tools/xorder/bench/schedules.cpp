// xorder bench schedules: the comparisons of the papers, computed from the schedules and the timing model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bench/bench.hpp"
#include "option_groups.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/schedule/band_placement.hpp"
#include "xorder/schedule/band_task.hpp"
#include "xorder/schedule/banded.hpp"
#include "xorder/schedule/banded_batch.hpp"
#include "xorder/schedule/bounds.hpp"
#include "xorder/schedule/descend.hpp"
#include "xorder/schedule/exchange.hpp"
#include "xorder/schedule/mesh.hpp"
#include "xorder/schedule/plus_minus.hpp"
#include "xorder/schedule/rounds.hpp"
#include "xorder/schedule/routed.hpp"
#include "xorder/schedule/timing.hpp"

namespace xorder::cli {
namespace {

using plots::Axis;
using plots::Unit;
using std::uint64_t;

const Axis steps_axis{"steps", Unit::number, true};

// The papers that the figures are about, as docs/theory.md names them.
struct Source {
  const char *authors, *title;
  int year;
};
constexpr Source edelman{"A. Edelman", "Optimal matrix transposition and bit reversal on hypercubes", 1991};
constexpr Source cormen{"T. H. Cormen", "Performing BMMC permutations efficiently", 1997};
constexpr Source varvarigos{"E. A. Varvarigos and D. P. Bertsekas",
                            "Transposition of banded matrices in hypercubes", 1995};
constexpr Source tsay{"Tsay, Ding and Wang", "Optimal algorithm for matrix transpose", 2003};
constexpr Source hu{"Hu", "Optimal all-to-some personalized communication on hypercubes", 1998};

// A figure whose series grow point by point, in the order in which their names first occur.
class Curves {
 public:
  Curves(std::string id, const std::string& caption, const Source& source, Axis x, Axis values) {
    figure_.id = std::move(id);
    figure_.caption =
        fmt::format("{} Source: {}, \"{}\", {}.", caption, source.authors, source.title, source.year);
    figure_.x = std::move(x);
    figure_.values = std::move(values);
  }
  void add(const std::string& name, double x, double value) {
    auto found = std::ranges::find(figure_.series, name, &MeasuredSeries::name);
    if (found == figure_.series.end()) found = figure_.series.insert(found, {name, {}});
    found->points.push_back({x, {value}});
  }
  void add(const std::string& name, uint64_t x, uint64_t value) {
    add(name, static_cast<double>(x), static_cast<double>(value));
  }
  MeasuredFigure take() { return std::move(figure_); }

 private:
  MeasuredFigure figure_;
};

// Edelman: all links busy, compared with one dimension after another, where every node sends half of its
// words over one link in each.
void total_exchange(Results& results, int most) {
  Curves steps("exchange-steps",
               "Transposition on a hypercube of 2^d nodes with 2^d words each: steps by neighbour "
               "exchanges over all dimensions at once, which is the lower bound, and over one dimension "
               "after the other.",
               edelman, {"d"}, steps_axis);
  Curves use("exchange-links", "The fraction of all links that is used in a step, on average.", edelman,
             {"d"}, {"link use", Unit::ratio});
  for (int d = 1; d <= most; ++d) {
    const schedule::Exchange all(d, schedule::Exchange::Kind::transposition);
    const double crossings = static_cast<double>(all.total().crossings),
                 links = static_cast<double>(all.network().links());
    const uint64_t in_turn = static_cast<uint64_t>(d) << (d - 1);
    const auto x = static_cast<uint64_t>(d);
    steps.add("all dimensions at once", x, all.steps());
    steps.add("lower bound", x, schedule::total_exchange_bound(d));
    steps.add("one after the other", x, in_turn);
    use.add("all dimensions at once", d, crossings / links / static_cast<double>(all.steps()));
    use.add("one after the other", d, crossings / links / static_cast<double>(in_turn));
  }
  results.figures.push_back(steps.take());
  results.figures.push_back(use.take());
}

constexpr int lg_processors = 4;
constexpr int lg_elements = 20;
constexpr schedule::LinkTimes cluster{.startup = 50e-6, .per_link = 0, .per_byte = 1e-9, .one_port = true};

double rounds_seconds(const schedule::Rounds& rounds, double block_bytes) {
  const double chunk = block_bytes / std::exp2(rounds.factors().rank);
  return schedule::duration(rounds, chunk, cluster, schedule::Switching::store_and_forward).lock_step;
}

// A personalized all-to-all that does not use the permutation: a message to every other processor, one after
// another.
double all_to_all_seconds(double block_bytes) {
  const double processors = std::exp2(lg_processors);
  return (processors - 1) * (cluster.startup + block_bytes / processors * cluster.per_byte);
}

// Exchanges the top `rank` bits with the low ones.
gf2::AffineMap map_of_rank(int rank) {
  std::vector<int> sources;
  for (int i = 0; i < lg_elements; ++i) {
    const bool changes = i < rank || i >= lg_elements - rank;
    sources.push_back(changes ? lg_elements - 1 - i : i);
  }
  return bmmc::bits(sources);
}

void rounds(Results& results) {
  const std::string model = fmt::format(
      "By the timing model: {} processors with one port, {:.0f} µs to start a message and {:.0f} ns a byte.",
      1 << lg_processors, cluster.startup * 1e6, cluster.per_byte * 1e9);
  Curves by_rank("rounds-rank",
                 "Rounds of whole chunks against an all-to-all, over rank γ: 2^γ messages for each "
                 "processor, or one for every other one. " +
                     model,
                 cormen, {"rank γ"}, {"time", Unit::seconds, true});
  for (const uint64_t block : {uint64_t{16} << 10, uint64_t{1} << 20, uint64_t{64} << 20}) {
    const double bytes = static_cast<double>(block);
    const std::string of = plots::text_of(bytes, Unit::bytes) + " each";
    for (int rank = 0; rank <= lg_processors; ++rank) {
      const double seconds =
          rounds_seconds({map_of_rank(rank), lg_processors, lg_elements - lg_processors}, bytes);
      by_rank.add("rounds, " + of, rank, seconds);
    }
    for (int rank = 0; rank <= lg_processors; ++rank)
      by_rank.add("all-to-all, " + of, rank, all_to_all_seconds(bytes));
  }
  results.figures.push_back(by_rank.take());

  Curves by_layout(
      "rounds-layout",
      "The same for layouts in which bits f .. f+3 of an index are its processor's number, 1 MiB each.",
      cormen, {"f"}, {"time", Unit::seconds});
  const std::pair<const char*, gf2::AffineMap> maps[] = {
      {"bit reversal", bmmc::bit_reverse(lg_elements)},
      {"transposition", bmmc::transpose(lg_elements / 2, lg_elements / 2)},
      {"Gray code", bmmc::gray(lg_elements)},
      {"shuffle", bmmc::shuffle(lg_elements)}};
  for (const auto& [name, map] : maps) {
    for (int f = 0; f <= lg_elements - lg_processors; ++f) {
      by_layout.add(name, f, rounds_seconds({map, lg_processors, f}, 0x1p20));
    }
  }
  results.figures.push_back(by_layout.take());
}

void bands(Results& results, int d) {
  const uint64_t n = uint64_t{1} << d;
  Curves steps(
      "bands",
      fmt::format(
          "Transposition of a matrix with B diagonals on 2^{} nodes: the closed "
          "form's 2^β steps, what a search finds for the same places of the columns, bounds, and a full "
          "matrix.",
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
    steps.add("closed form", width, closed);
    steps.add("with search", width, best);
    steps.add("bound", width, bound);
    steps.add("bound for any places", width, schedule::universal_band_bound(d, width));
    steps.add("(B − 1) / 2", width, (width - 1) / 2);
    steps.add("B − 2", width, width - 2);
    steps.add("a full matrix, N / 2", width, n / 2);
  }
  results.figures.push_back(steps.take());
}

void bands_at_once(Results& results) {
  constexpr int d = 9;
  Curves gain("bands-at-once",
              "Several bands of half width 2^β at once on 2^9 nodes: how many times faster than one after "
              "another, for the paper's two phases and for placements that were found by search.",
              varvarigos, {"matrices"}, {"gain", Unit::ratio});
  for (int beta = 1; beta <= 4; ++beta) {
    for (int k = 1; k <= d / beta; ++k) {
      const double in_turn = std::ldexp(k, beta);
      const auto found = k == 1 ? std::nullopt : schedule::found_placement(d, beta, k);
      if (k > 1 && !found) continue;
      gain.add(fmt::format("β = {}, search", beta), k,
               k == 1 ? 1 : in_turn / static_cast<double>(found->steps));
    }
    for (int k = 1; k <= d / beta; ++k) {
      gain.add(fmt::format("β = {}, two phases", beta), k,
               std::ldexp(k, beta) / static_cast<double>(schedule::BandedBatch(d, beta, k).steps()));
    }
  }
  results.figures.push_back(gain.take());
}

void meshes(Results& results, uint64_t most) {
  Curves steps("mesh",
               "Transposition on an N × N mesh with wormhole switching: our schedule, "
               "which is at the bound T(N), with XY routing T(N) + 1, their two phases for even N, with XY "
               "three steps more, and the recursive exchange.",
               tsay, {"N"}, {"steps"});
  for (uint64_t n = 2; n <= most; ++n) {
    steps.add("ours", n, schedule::Mesh(n, schedule::Mesh::Routing::any).steps());
    steps.add("ours, XY", n, schedule::Mesh(n, schedule::Mesh::Routing::xy).steps());
    if (n % 2 == 0) {
      const uint64_t two_phases = schedule::Mesh(n, schedule::Mesh::Routing::two_phase).steps();
      steps.add("two phases", n, two_phases);
      steps.add("two phases, XY", n, two_phases + 3);
    }
    const double side = static_cast<double>(n);
    steps.add("(N − 1) / (2 + √2)", side, (side - 1) / (2 + std::sqrt(2)));
    steps.add("recursive, N / 3.27", side, side / 3.27);
    steps.add("bound of a torus", n, schedule::torus_bound(n));
  }
  results.figures.push_back(steps.take());
}

void descends(Results& results, int most) {
  constexpr int n = 6;
  Curves steps("descend",
               "±2^b-descend of M elements on N = 64 nodes: pipelined 4 (lg M + M/N − 1) steps, "
               "forwards and backwards, 2 lg N · M/N without the pipeline; directly, by ASPC for one element "
               "of each node after the other, (4 lg N − 2) M/N, and M/N − 1 for what local iterations need "
               "of neighbours; and a lower bound.",
               hu, {"M/N", Unit::number, true}, steps_axis);
  using Order = schedule::Descend::Order;
  const schedule::PlusMinus direct(n, schedule::Recurrence::all(n, 0, false).iterations);
  for (int v = 0; v <= most; ++v) {
    const uint64_t per_node = uint64_t{1} << v;
    steps.add("pipelined, descend", per_node, schedule::Descend(n, v, Order::descend).steps());
    steps.add("pipelined, ascend", per_node, schedule::Descend(n, v, Order::ascend).steps());
    steps.add("without the pipeline", per_node, 2 * n * per_node);
    steps.add("direct", per_node, direct.steps() * per_node + per_node - 1);
    steps.add("lower bound", per_node, schedule::descend_bound(n, v));
  }
  results.figures.push_back(steps.take());
}

}  // namespace

void add_bench_schedules(CLI::App& bench) {
  CLI::App* command =
      bench.add_subcommand("schedules", "the papers' comparisons, computed from the schedules");
  command->description(
      "Counts the steps of every kind of schedule and of its alternatives in the papers, and computes\n"
      "times with the timing model. Nothing is measured.");
  command->footer(
      "Examples:\n"
      "  xorder bench schedules --html schedules.html\n"
      "  xorder bench schedules --json schedules.json -q");
  struct Options {
    std::string json, html;
    bool force = false, quiet = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("--json", options->json, "write all values as one JSON object")
      ->type_name("FILE")
      ->group(group::output);
  command->add_option("--html", options->html, "draw everything on one page")
      ->type_name("FILE")
      ->group(group::output);
  command->add_flag("--force", options->force, "replace these files if they exist")->group(group::output);
  command->add_flag("-q,--quiet", options->quiet, "print nothing")->group(group::reporting);
  command->callback([options] {
    OutputFiles files(options->json, options->html, options->force);
    Results results = new_results("schedules");
    total_exchange(results, 20);
    rounds(results);
    bands(results, 7);
    bands_at_once(results);
    meshes(results, 128);
    descends(results, 16);
    files.write(results);
    if (!options->quiet) fmt::print("{}", results_text(results));
  });
}

}  // namespace xorder::cli
