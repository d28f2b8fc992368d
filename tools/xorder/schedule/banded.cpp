// `xorder schedule banded`: the band, one matrix or several, the method that makes the schedule, and the
// tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "schedule/banded/band_packets.hpp"
#include "schedule/banded/band_task.hpp"
#include "schedule/banded/bands_at_once.hpp"
#include "schedule/shown.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::cli {
namespace {

using schedule::Diagonals;
using schedule::Message;
using std::uint64_t;
using Row = std::vector<nlohmann::json>;

struct NodeBand {
  int dimension = 0;
  int beta = 0;
  Diagonals diagonals;

  bool whole() const { return beta == dimension; }
  bool full() const { return whole() || diagonals == Diagonals{uint64_t{1} << beta, uint64_t{1} << beta}; }
};

// The whole matrix if β = d.
Diagonals diagonals_once(const NodeBand& b) {
  return b.whole() ? schedule::whole_matrix(b.dimension) : b.diagonals.once(b.dimension);
}

// The band of matrix m, with --beta.
NodeBand band(const BandedOptions& o, std::size_t m = 0) {
  constexpr const char* ways =
      "banded takes --dimension with --beta or --bandwidth, or --columns with --processors and --bandwidth";
  if (o.columns || o.processors) {
    if (!o.columns || !o.processors || !o.bandwidth || o.dimension || !o.betas.empty())
      throw InputError(ways);
    const int d = exact_lg(*o.processors, "--processors");
    static_cast<void>(schedule::Network::hypercube(d));  // throws if there are too many
    const auto blocks = schedule::band_of_blocks(*o.bandwidth, *o.columns, d);
    return {d, blocks.beta, {blocks.half, blocks.half}};
  }
  if (!o.dimension || o.betas.empty() != o.bandwidth.has_value()) throw InputError(ways);
  checked_dimension(*o.dimension);
  if (o.bandwidth) {
    return {*o.dimension, schedule::beta_of_bandwidth(*o.bandwidth, *o.dimension),
            Diagonals::of_width(*o.bandwidth)};
  }
  const int beta = o.betas[m];
  if (beta < 0 || beta > *o.dimension)
    throw InputError(fmt::format("--beta is {}; it must be from 0 to the dimension, {}", beta, *o.dimension));
  return {*o.dimension, beta, {uint64_t{1} << beta, uint64_t{1} << beta}};
}

// The closed form: a table of tags by step and dimension, the ring's last.
void show_closed(ShownSchedule& shown, const NodeBand& b, std::unique_ptr<schedule::Banded> banded) {
  const schedule::Banded* s = banded.get();
  shown.table = {
      "the tags that cross each dimension, first of A, then of B, and the tag released on the ring", "step",
      numbered("j=", b.beta, b.dimension - b.beta), s->steps(), [s, b](uint64_t step) {
        Row row;
        for (int j = 0; j < b.beta; ++j) {
          row.push_back(
              fmt::format("{}{}", s->second_half(step) && b.beta < b.dimension ? "B" : "A", s->tag(step, j)));
        }
        if (b.beta < b.dimension) row.emplace_back(s->release()[step]);
        return row;
      }};
  if (b.beta < b.dimension) shown.table.columns.push_back("ring");
  shown.colours = {{colour::navy, "A, for nodes at the same place in their ring"},
                   {colour::steel, "B, from a ring neighbour"},
                   {colour::orange, "over the ring"}};
  shown.label_meaning = "the tag";
  shown.mark = [s, b](uint64_t step, const Message& m) {
    const int j = std::countr_zero(m.from.node ^ m.to.node) - (b.dimension - b.beta);
    if (j < 0) return Mark{2, std::to_string(s->release()[step])};
    return Mark{s->second_half(step) ? 1u : 0u, std::to_string(s->tag(step, j))};
  };
  shown.schedule = std::move(banded);
}

void show_one(ShownSchedule& shown, const NodeBand& b, const BandedOptions& o) {
  const Diagonals d = diagonals_once(b);
  const bool gray = o.assignment == "gray";
  if (o.method == "closed" && !gray) throw InputError("--method closed is for --assignment gray only");
  std::unique_ptr<schedule::Banded> closed;
  if (gray) {
    closed = b.whole() ? std::make_unique<schedule::Banded>(b.dimension, b.beta)
                       : std::make_unique<schedule::Banded>(b.dimension, b.beta, b.diagonals);
  }
  const bool affordable = schedule::band_crossings(b.dimension, gray ? b.beta : b.dimension, d) <=
                          schedule::Routed::max_crossings;
  const bool search = o.method == "search" || !gray ||
                      (o.method == "best" && closed->steps() > closed->lower_bound() && affordable);
  std::unique_ptr<schedule::Routed> routed;
  if (search) {
    const gf2::AffineMap map = gray ? schedule::binary_gray_assignment(b.dimension, b.beta)
                               : o.assignment == "binary"
                                   ? schedule::binary_assignment(b.dimension)
                                   : schedule::best_affine_assignment(b.dimension, d).map;
    const auto task = schedule::band_task(b.dimension, d, {map});
    routed = std::make_unique<schedule::Routed>(b.dimension, d.width(), task);
  }
  if (!routed || (o.method == "best" && closed && closed->steps() <= routed->steps())) {
    shown.facts["method"] = "closed form";
    show_closed(shown, b, std::move(closed));
  } else {
    note_search(shown, *routed);
    if (closed) shown.facts["closed_form_steps"] = closed->steps();
    show_by_search(shown, std::move(routed));
  }
  shown.facts["binary_assignment_bound"] = schedule::band_bound(b.dimension, b.dimension, d);
  if (!b.whole()) shown.facts["gray_assignment_bound"] = schedule::band_bound(b.dimension, b.beta, d);
  if (b.dimension <= schedule::max_affine_dimension) {
    shown.facts["affine_assignment_bound"] = schedule::best_affine_assignment(b.dimension, d).bound;
  }
  shown.facts["any_assignment_bound"] = schedule::universal_band_bound(b.dimension, d.width());
}

void show_batch(ShownSchedule& shown, const std::vector<NodeBand>& all, const BandedOptions& o) {
  if (o.assignment != "gray")
    throw InputError("--assignment is for one matrix only; several are placed to suit each other");
  const NodeBand& b = all.front();
  const std::size_t k = all.size();
  const bool alike = o.betas.size() <= 1;
  uint64_t crossings = 0;
  std::vector<Diagonals> bands;
  for (const NodeBand& one : all) {
    crossings += schedule::band_crossings(b.dimension, one.beta, diagonals_once(one));
    bands.push_back(one.diagonals);
  }
  constexpr uint64_t most_crossings = uint64_t{1} << 24;
  if (crossings > most_crossings) {
    throw InputError(
        fmt::format("{} matrices on 2^{} virtual processors cross {} links; at most {} can be shown", k,
                    b.dimension, crossings, most_crossings));
  }
  schedule::BandsAtOnce best = schedule::bands_at_once(
      b.dimension, bands, o.method == "closed" ? 0 : schedule::Routed::max_crossings, o.method == "search");
  shown.facts["method"] = best.way;
  shown.facts["steps_one_after_another"] = best.steps_in_turn;
  if (best.steps_in_phases) {
    shown.facts["steps_in_two_phases"] = *best.steps_in_phases;
    shown.facts["largest_ring_load"] = *best.steps_in_phases - (uint64_t{1} << b.beta);
  }
  if (const auto* const routed = dynamic_cast<const schedule::Routed*>(best.schedule.get())) {
    note_search(shown, *routed);
    shown.facts["placement"] = nlohmann::ordered_json::array();
    for (const schedule::PlacedBand& band : best.bands) {
      shown.facts["placement"].push_back(
          {{"columns", band.assignment.matrix.columns()}, {"constant", band.assignment.complement}});
    }
  }
  if (alike) {
    shown.facts["any_assignment_bound"] =
        schedule::universal_band_bound(b.dimension, diagonals_once(b).width(), static_cast<int>(k));
  }
  std::vector<uint64_t> ends;
  for (const schedule::PlacedBand& band : best.bands) ends.push_back(band.first_slot + band.width);
  show_by_search(shown, std::move(best.schedule), ends);
}

}  // namespace

ShownSchedule show_banded(const BandedOptions& options) {
  std::vector<NodeBand> all = {band(options)};
  const NodeBand b = all.front();
  if (options.betas.size() > 1) {
    if (options.matrices) throw InputError("--matrices: not with a list of --beta, which has one for each");
    for (std::size_t m = 1; m < options.betas.size(); ++m) all.push_back(band(options, m));
  } else if (const int k = options.matrices.value_or(1); k != 1) {
    schedule::require_matrices(b.dimension, b.beta, k);
    all.resize(static_cast<std::size_t>(k), b);
  }
  const std::size_t matrices = all.size();
  ShownSchedule shown;
  shown.title = fmt::format(
      "banded --dimension {} --beta {}", b.dimension,
      options.betas.empty() ? std::to_string(b.beta) : fmt::format("{}", fmt::join(options.betas, ",")));
  if (!b.full())
    shown.title = fmt::format("banded --dimension {} --bandwidth {}", b.dimension, b.diagonals.width());
  shown.parameters = {{"dimension", b.dimension}, {"beta", b.beta}, {"matrices", matrices}};
  if (options.betas.size() > 1) shown.parameters["beta"] = options.betas;
  if (options.columns) shown.parameters["columns"] = *options.columns;
  if (options.bandwidth) shown.parameters["bandwidth"] = *options.bandwidth;
  shown.parameters["assignment"] = options.assignment;
  if (options.assignment != "gray") shown.title += " --assignment " + options.assignment;
  if (matrices == 1) {
    show_one(shown, b, options);
  } else {
    if (options.matrices) shown.title += fmt::format(" --matrices {}", matrices);
    show_batch(shown, all, options);
  }
  const char* order = options.assignment == "gray"     ? "in Gray-code order"
                      : options.assignment == "binary" ? "in order"
                                                       : "by an affine assignment";
  shown.summary = fmt::format(
      "transposition of {} on 2^{} nodes, {} per node {}",
      matrices == 1 ? "a cyclic banded matrix" : fmt::format("{} cyclic banded matrices", matrices),
      b.dimension, options.columns ? "a block of columns" : "one column", order);
  return shown;
}

}  // namespace xorder::cli
