// xorder bench schedules: the comparisons of the papers, computed from the schedules and the timing model,
// and runs on this computer.
#include <cmath>
#include <memory>

#include "bench/bench.hpp"
#include "bench/schedules.hpp"
#include "schedule/bounds.hpp"
#include "schedule/descend/descend.hpp"
#include "schedule/descend/plus_minus.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/mesh/torus.hpp"

namespace xorder::cli {
namespace {

using drawing::Unit;
using std::uint64_t;

const drawing::Axis steps_axis{"steps", Unit::number, true};

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

void meshes(Results& results, uint64_t most) {
  Curves steps("mesh",
               "Transposition on an N × N mesh with wormhole switching: our schedule, "
               "which is at the bound T(N), with XY routing T(N) + 1, their two phases for even N, with XY "
               "three steps more, what Ding, Ho and Tsay's routing took in 1994, and the recursive exchange, "
               "N − 1; and ours on a torus, with a lower bound.",
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
    steps.add("in 1994, N / 3.27", side, side / 3.27);
    if (std::has_single_bit(n) && n <= 32) {  // a larger one would flatten the other curves
      steps.add("recursive exchange", n, schedule::Mesh(n, schedule::Mesh::Routing::recursive).steps());
    }
    steps.add("torus, ours", n, schedule::Torus(n, schedule::Mesh::Routing::any).steps());
    steps.add("torus, bound", n, schedule::torus_bound(n));
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

void add_figures_of_papers(Results& results) {
  total_exchange(results, 20);
  add_rounds_figures(results);
  add_band_figures(results, 7);
  meshes(results, 128);
  descends(results, 16);
}

class SchedulesBenchmark final : public Benchmark {
 public:
  SchedulesBenchmark(const Extent& extent, bool computed) : extent_(extent), computed_(computed) {}

  std::vector<Case> cases(Results& results) override {
    std::vector<Case> cases;
    add_figures_of_papers(results);
    if (computed_) return cases;
    add_runs_in_memory(results, cases, extent_.full, extent_.stop);
    const auto matrix = std::make_shared<const TestMatrix>(extent_.directory, extent_.bytes, extent_.stop);
    add_runs_on_files(results, cases, matrix, extent_.full);
    return cases;
  }
  void conclude(Results& results) override { conclude_runs_in_memory(results); }

 private:
  Extent extent_;
  bool computed_;
};

}  // namespace

void add_bench_schedules(CLI::App& bench) {
  const auto computed = std::make_shared<bool>(false);
  add_benchmark(
      bench,
      {.name = "schedules",
       .summary = "the papers' comparisons, computed, and the schedules as they run here",
       .description =
           "Counts the steps of every kind of schedule and of its alternatives in the papers, and computes\n"
           "times with the timing model. Then runs the schedules on this computer: messages in memory, and\n"
           "a test file in DIR, which needs room for four such files.",
       .footer = "Examples:\n"
                 "  xorder bench schedules --html schedules.html\n"
                 "  xorder bench schedules --computed --json schedules.json -q\n"
                 "  xorder bench schedules /data --full --html schedules.html",
       .quick_bytes = uint64_t{64} << 20,
       .full_bytes = uint64_t{1} << 30,
       .least_bytes = uint64_t{1} << 20,
       .what_bytes = "the file",
       .has_directory = true,
       .add_options =
           [computed](CLI::App& command) {
             command.add_flag("--computed", *computed, "only what is computed, without runs");
           },
       .make =
           [computed](const Extent& extent) {
             return std::make_unique<SchedulesBenchmark>(extent, *computed);
           }});
}

}  // namespace xorder::cli
