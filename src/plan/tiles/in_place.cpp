#include "plan/tiles/in_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "byte_units.hpp"
#include "plan/choose.hpp"
#include "plan/tiles/factor.hpp"
#include "rounding.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

constexpr double worth_several = 2;  // passes are worth it if they are so many times as fast as one

constexpr double unlimited = std::numeric_limits<double>::infinity();

using Passes = std::optional<std::vector<InPlacePass>>;  // nothing: it cannot be done so

double seconds_of(const std::vector<InPlacePass>& passes) {
  return std::accumulate(passes.begin(), passes.end(), 0.0,
                         [](double sum, const InPlacePass& pass) { return sum + pass.seconds; });
}

Passes faster(Passes a, Passes b) {
  if (!a || !b) return a ? std::move(a) : std::move(b);
  return seconds_of(*b) < seconds_of(*a) ? std::move(b) : std::move(a);
}

// One pass, unless several are worth it: where rows do not begin at blocks and memory is scarce.
Passes unless_worth(Passes one, Passes several) {
  if (one && several && seconds_of(*several) * worth_several >= seconds_of(*one)) return one;
  return several ? std::move(several) : std::move(one);
}

// One after the other.
Passes joined(std::vector<Passes> all) {
  Passes whole(std::in_place);
  for (Passes& some : all) {
    if (!some) return std::nullopt;
    std::ranges::move(*some, std::back_inserter(*whole));
  }
  return whole;
}

bool keeps_shape(const Reordering& r) {
  for (size_t j = 0; j < r.order.size(); ++j) {
    if (r.extents[static_cast<size_t>(r.order[j])] != r.extents[j]) return false;
  }
  return !r.mapped || r.order[static_cast<size_t>(*r.mapped)] == *r.mapped;
}

// Without axes of extent 1, and with what stays at the end folded into the element. Unlike canonical(), which
// makes (n, n, n) in the order (2, 0, 1) an n² x n matrix, it keeps axes apart that move in a longer cycle.
Reordering without_short_axes(Reordering r) {
  for (size_t a = r.extents.size(); a-- > 0;) {
    const bool last = a + 1 == r.extents.size() && r.order.back() == static_cast<int>(a);
    if (r.mapped == static_cast<int>(a) || (r.extents[a] > 1 && !(last && r.extents.size() > 1))) continue;
    if (r.extents[a] * r.element_bytes > 64 * KiB && r.extents[a] > 1) continue;
    r.element_bytes *= r.extents[a];
    r.extents.erase(r.extents.begin() + static_cast<std::ptrdiff_t>(a));
    std::erase(r.order, static_cast<int>(a));
    for (int& axis : r.order) axis -= axis > static_cast<int>(a);
    if (r.mapped) *r.mapped -= *r.mapped > static_cast<int>(a);
  }
  if (r.extents.empty()) r.extents = {1}, r.order = {0};
  return r;
}

// How many coordinates of an axis have about `wanted` bytes, in parts as long as each other, which begin at
// blocks where they can. Each coordinate has `bytes`.
uint64_t part_of(uint64_t extent, uint64_t bytes, uint64_t wanted) {
  const uint64_t grain = file_block / std::gcd(file_block, bytes);
  const uint64_t even = ceil_div(extent, ceil_div(extent, std::max<uint64_t>(1, wanted / bytes)));
  return std::min(extent, even >= grain ? round_up(even, grain) : even);
}

// Brings one axis after the other to its place, the slowest of the target first.
std::vector<Matrices> as_matrices(const Reordering& r) {
  std::vector<Matrices> steps;
  std::vector<int> axes(r.order.size());  // as they lie in the file
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto begin = axes.begin(), place = begin + static_cast<std::ptrdiff_t>(i);
    const auto axis = std::find(place, axes.end(), r.order[i]);
    if (axis == place) continue;
    const auto product = [&](auto from, auto to) {
      return std::accumulate(from, to, uint64_t{1},
                             [&](uint64_t all, int a) { return all * r.extents[static_cast<size_t>(a)]; });
    };
    steps.push_back({product(begin, place), product(place, axis), product(axis, axis + 1),
                     product(axis + 1, axes.end()) * r.element_bytes});
    std::rotate(place, axis, axis + 1);
  }
  return steps;
}

// All axes that move as one with a map, if their extents are powers of two.
std::optional<Reordering> as_map(const Reordering& r) {
  const size_t first = r.order.front() == 0 ? 1 : 0;
  Reordering moved{
      r.element_bytes, {r.extents.begin() + static_cast<std::ptrdiff_t>(first), r.extents.end()}, {}, {}, {}};
  for (size_t i = first; i < r.order.size(); ++i) moved.order.push_back(r.order[i] - static_cast<int>(first));
  const auto map = flat_map(moved);
  if (!map) return std::nullopt;
  return Reordering{r.element_bytes, {r.elements() / moved.elements(), moved.elements()}, {0, 1}, 1, *map};
}

class InPlaceSearch {
 public:
  explicit InPlaceSearch(const Setting& setting) : setting_(setting) {}

  Passes best(const Reordering& what) const {
    const Reordering r = canonical(what);
    const Reordering apart = keeps_shape(r) ? r : without_short_axes(what);
    Passes found = keeps_shape(apart) ? boxes(apart) : std::nullopt;
    if (r.mapped || found) {
      const std::vector<Matrices> steps = r.mapped ? std::vector<Matrices>() : as_matrices(r);
      return steps.size() == 1 ? unless_worth(std::move(found), routed(steps.front())) : std::move(found);
    }
    found = faster(whole(r), slots(r));
    if (const auto map = as_map(r)) found = faster(std::move(found), boxes(*map));
    std::vector<Passes> steps;
    for (const Matrices& step : as_matrices(r)) {
      steps.push_back(matrices(step, found ? seconds_of(*found) : unlimited));
      if (!steps.back()) return found;
    }
    return faster(std::move(found), joined(std::move(steps)));
  }

 private:
  Passes pass(const Reordering& what, InPlaceCut cut, double most_seconds = unlimited) const {
    return pass(InPlaceTiles(what, std::move(cut)), std::nullopt, most_seconds);
  }
  Passes pass(InPlaceTiles tiles, const std::optional<RoutingStep>& routed,
              double most_seconds = unlimited) const {
    auto made = in_place_pass(std::move(tiles), routed, setting_, most_seconds);
    if (!made) return std::nullopt;
    Passes one(std::in_place);
    one->push_back(*std::move(made));
    return one;
  }

  // Two are read and two written at a time, and two are in the undo area.
  uint64_t largest_tile() const { return std::min(setting_.memory / 4, largest_undo / 2); }

  // The fastest of make(run, seconds) that takes fewer seconds, for runs of so many bytes at most.
  Passes over_runs(uint64_t least, const std::function<Passes(uint64_t, double)>& make) const {
    Passes best;
    for (uint64_t run = std::max(largest_request, least); run >= least; run = run / 4 * 3)
      best = faster(std::move(best), make(run, best ? seconds_of(*best) : unlimited));
    return best;
  }

  // Of what keeps its shape.
  Passes boxes(const Reordering& r) const {
    InPlaceCut all{r.extents, r.map.bits()};
    if (r.mapped) all.tile[static_cast<size_t>(*r.mapped)] = 1;
    Passes found = pass(r, std::move(all));
    if (found && r.bytes() <= 2 * largest_request) return found;
    const auto over_cuts = [&](const auto& make) {
      return over_runs(r.element_bytes,
                       [&, before = InPlaceCut()](uint64_t run, double most) mutable -> Passes {
                         InPlaceCut cut = cut_for(r, run);
                         if (cut == before) return std::nullopt;
                         before = cut;
                         return make(cut, most);
                       });
    };
    found = faster(std::move(found),
                   over_cuts([&](const InPlaceCut& cut, double most) { return pass(r, cut, most); }));
    if (!r.mapped) return found;
    const double one = found ? seconds_of(*found) / worth_several : unlimited;
    Passes several =
        over_cuts([&](const InPlaceCut& cut, double most) { return factors(r, cut, std::min(most, one)); });
    return several && seconds_of(*several) < one ? std::move(several) : std::move(found);
  }

  // Of a map, in as few passes as the memory allows.
  Passes factors(const Reordering& r, const InPlaceCut& cut, double most_seconds) const {
    const int rank = gf2::rank_gamma(r.map.matrix, cut.low);
    for (int step = rank, before = 0; step > 0; --step) {
      const int passes = (rank + step - 1) / step;
      if (std::exchange(before, passes) == passes) continue;
      const int even = (rank + passes - 1) / passes;
      std::vector<gf2::AffineMap> maps = factor_in_place(r.map, cut.low, cut.low + even);
      if (maps.back().is_identity()) maps.pop_back();
      std::vector<Passes> all;
      for (const gf2::AffineMap& map : maps) {
        Reordering factor = r;
        factor.map = map;
        all.push_back(pass(factor, cut, most_seconds / static_cast<double>(maps.size())));
        if (!all.back()) break;
      }
      if (Passes found = joined(std::move(all))) return found;
    }
    return std::nullopt;
  }

  // The cut whose runs have about so many bytes.
  static InPlaceCut cut_for(const Reordering& what, uint64_t wanted) {
    InPlaceCut cut{std::vector<uint64_t>(what.extents.size(), 1), 0};
    uint64_t run = what.element_bytes;
    for (size_t a = what.extents.size(); a-- > 0 && run <= wanted;) {
      const uint64_t extent = what.extents[a];
      if (what.mapped == static_cast<int>(a)) {
        while (cut.low < what.map.bits() && run << (cut.low + 1) <= wanted) ++cut.low;
        if (cut.low < what.map.bits()) break;
      } else {
        const uint64_t length = part_of(extent, run, wanted);
        auto orbit = a;  // all axes that change places with this one
        do {
          cut.tile[orbit] = std::max(cut.tile[orbit], length);
          orbit = static_cast<size_t>(what.order[orbit]);
        } while (orbit != a);
        if (cut.tile[a] < extent) break;
      }
      run *= extent;
    }
    return cut;
  }

  // In one pass, if tiles span all axes that move.
  Passes whole(const Reordering& r) const {
    InPlaceCut cut{r.extents, 0};
    if (r.order.front() == 0) {
      cut.tile[0] = part_of(r.extents[0], r.bytes() / r.extents[0], 4 * largest_request);
    }
    return pass(r, std::move(cut));
  }

  // In one pass, if elements are long.
  Passes slots(const Reordering& r, double most_seconds = unlimited) const {
    InPlaceCut cut{std::vector<uint64_t>(r.extents.size(), 1), 0};
    if (r.order.back() != static_cast<int>(r.order.size()) - 1) return pass(r, std::move(cut), most_seconds);
    return over_runs(r.element_bytes, [&](uint64_t run, double most) {
      cut.tile.back() = part_of(r.extents.back(), r.element_bytes, run);
      return pass(r, cut, most);
    });
  }

  // Those in two passes only if they take fewer seconds.
  Passes matrices(const Matrices& m, double most_seconds) const {
    const Reordering r = canonical({m.element_bytes, {m.count, m.rows, m.columns}, {0, 2, 1}, {}, {}});
    if (keeps_shape(r)) return unless_worth(boxes(r), routed(m));
    Passes found = faster(faster(whole(r), slots(r)), routed(m));
    return faster(std::move(found),
                  panels(m, found ? std::min(most_seconds, seconds_of(*found)) : most_seconds));
  }

  // Panels of h rows become slots of h elements, which change places. A wide matrix goes the way back.
  Passes panels(const Matrices& m, double most_seconds) const {
    const uint64_t shorter = std::min(m.rows, m.columns), longer = std::max(m.rows, m.columns);
    const bool wide = m.rows < m.columns;
    const uint64_t most = std::min(longer / 2, largest_tile() / (shorter * m.element_bytes));
    Passes best;
    for (uint64_t h = most, left = 4; h > std::max<uint64_t>(most / 8, 1) && left > 0; --h) {
      if (longer % h != 0) continue;
      --left;
      const uint64_t panels = longer / h, rows = wide ? shorter : h, columns = wide ? h : shorter;
      std::vector<Passes> both;
      both.push_back(whole({m.element_bytes, {m.count * panels, rows, columns}, {0, 2, 1}, {}, {}}));
      if (!both.back()) continue;
      const uint64_t slot_rows = wide ? shorter : panels, slot_columns = wide ? panels : shorter;
      both.push_back(slots({h * m.element_bytes, {m.count, slot_rows, slot_columns}, {0, 2, 1}, {}, {}},
                           most_seconds / 2));
      if (wide) std::swap(both[0], both[1]);
      best = faster(std::move(best), joined(std::move(both)));
    }
    return best;
  }

  // Of any shape.
  Passes routed(const Matrices& m) const {
    using To = RoutingStep::To;
    const uint64_t elements = m.elements(), grain = file_block / std::gcd(file_block, m.element_bytes);
    Passes best;
    const uint64_t most = largest_tile();
    for (uint64_t tile = most; tile > most / 4; tile = tile / 8 * 7) {
      const uint64_t chunks = ceil_div(elements * m.element_bytes, tile), strips = std::bit_ceil(chunks);
      const Routing routing{m, round_up(ceil_div(elements, chunks), strips * grain),
                            std::countr_zero(strips)};
      if (routing.table_bytes() > setting_.memory / 8) continue;
      const InPlaceTiles within({m.element_bytes, {elements}, {0}, {}, {}}, {{routing.chunk}, 0});
      std::vector<Passes> steps;
      steps.push_back(pass(within, RoutingStep{routing, To::parts}));
      steps.push_back(pass(InPlaceTiles(routing), RoutingStep{routing, To::chunks}));
      steps.push_back(pass(within, RoutingStep{routing, To::places}));
      best = faster(std::move(best), joined(std::move(steps)));
    }
    return best;
  }

  const Setting& setting_;
};

}  // namespace

uint64_t InPlacePlan::batch_count() const {
  uint64_t all = header;
  for (const InPlacePass& pass : passes) all += pass.batch_count();
  return all;
}

std::pair<size_t, uint64_t> InPlacePlan::pass_of(uint64_t batch) const {
  size_t pass = 0;
  while (pass < passes.size() && batch >= passes[pass].batch_count()) batch -= passes[pass++].batch_count();
  return {pass, batch};
}

uint64_t InPlacePlan::first_batch(size_t pass) const {
  uint64_t first = 0;
  for (size_t p = 0; p < pass; ++p) first += passes[p].batch_count();
  return first;
}

uint64_t InPlacePlan::bytes_at(uint64_t batches) const {
  const auto [pass, within] = pass_of(batches);
  uint64_t bytes = 0;
  for (size_t p = 0; p < std::min(pass + 1, passes.size()); ++p) {
    const uint64_t all = passes[p].bytes_moved() + passes[p].bytes_written();
    bytes += p < pass ? all : all / passes[p].batch_count() * within;
  }
  return bytes;
}

uint64_t InPlacePlan::undo_bytes() const {
  uint64_t most = file_block;  // no file is empty
  for (const InPlacePass& pass : passes) most = std::max(most, pass.undo_bytes());
  return most;
}

uint64_t InPlacePlan::memory() const {
  uint64_t most = 0;
  for (const InPlacePass& pass : passes) most = std::max(most, pass.memory());
  return most;
}

double InPlacePlan::seconds() const { return seconds_of(passes); }

std::string InPlacePlan::text() const {
  std::string all;
  for (const InPlacePass& pass : passes) all += pass.text() + "\n";
  return all;
}

InPlacePlan make_in_place_plan(const Reordering& what, const Setting& setting) {
  const auto within = [&](uint64_t memory) { return InPlaceSearch(setting.with_memory(memory)).best(what); };
  if (Passes best = within(setting.memory)) {
    InPlacePlan plan{*std::move(best)};
    for (size_t i = 0; i + 1 < plan.passes.size(); ++i)
      plan.passes[i].batches.push_back(plan.passes[i].batches.back());
    return plan;
  }
  std::optional<uint64_t> enough;
  if (const uint64_t most = 4 * largest_undo; setting.memory < most && within(most))
    enough = enough_mebibytes(setting.memory, [&](uint64_t memory) { return within(memory).has_value(); });
  throw InputError(
      fmt::format("this reordering cannot be done in place with {} of memory{}", size_text(setting.memory),
                  enough ? fmt::format(": it takes {} MiB; or name another file as OUT", *enough)
                         : ": no way is known to do it within so little; name another file as OUT"));
}

}  // namespace xorder::plan
