#include "schedule/banded/bands_at_once.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "schedule/banded/band_placement.hpp"
#include "schedule/banded/band_task.hpp"
#include "schedule/banded/banded_batch.hpp"
#include "schedule/bits.hpp"
#include "schedule/routed/router.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::size_t;
using std::uint64_t;

BandOfNodes of_nodes(int dimension, const Diagonals& band) {
  const uint64_t half = std::max(band.back, band.ahead);
  const int beta = half < 2 ? 0 : static_cast<int>(std::bit_width(half - 1));
  if (beta >= dimension) return {dimension, whole_matrix(dimension)};
  return {beta, band};
}

/// The slots of each matrix follow those of the one before.
std::vector<PlacedBand> placed_bands(int dimension, const std::vector<gf2::AffineMap>& maps,
                                     const std::vector<uint64_t>& reaches) {
  std::vector<PlacedBand> bands;
  uint64_t slot = 0;
  for (size_t m = 0; m < maps.size(); ++m) {
    const uint64_t reach = std::min(reaches[m], pow2(dimension) / 2);
    bands.push_back({maps[m], reach, std::min(pow2(dimension), 2 * reach + 1), slot});
    slot += bands.back().width;
  }
  return bands;
}

// The slots are those of BandLayout.
BandsAtOnce in_turn(int dimension, const std::vector<BandOfNodes>& matrices) {
  auto schedule = std::make_shared<BandedInTurn>(dimension, matrices);
  std::vector<gf2::AffineMap> maps;
  std::vector<uint64_t> reaches;
  for (size_t m = 0; m < matrices.size(); ++m) {
    maps.push_back(rotated_assignment(dimension, matrices[m].beta, schedule->rotation(m)));
    reaches.push_back(pow2(matrices[m].beta));
  }
  return {std::move(schedule), placed_bands(dimension, maps, reaches), "one after another"};
}

// Whether BandedBatch can do these.
bool in_phases(int dimension, const std::vector<BandOfNodes>& matrices) {
  const int beta = matrices[0].beta, k = static_cast<int>(matrices.size());
  const Diagonals full{pow2(beta), pow2(beta)};
  return k > 1 && beta >= 1 && beta < dimension && k <= dimension / beta &&
         std::ranges::all_of(matrices,
                             [&](const BandOfNodes& m) { return m.beta == beta && m.band == full; });
}

BandsAtOnce two_phases(int dimension, const std::vector<BandOfNodes>& matrices) {
  const int beta = matrices[0].beta, k = static_cast<int>(matrices.size());
  return {std::make_shared<BandedBatch>(dimension, beta, k),
          placed_bands(dimension, rotated_placement(dimension, beta, k),
                       std::vector(matrices.size(), pow2(beta))),
          "two phases"};
}

// The placement that was found, if there is one. If there are more matrices than it has, it is repeated.
std::optional<std::vector<gf2::AffineMap>> best_placement(int dimension,
                                                          const std::vector<BandOfNodes>& matrices) {
  const int beta = matrices[0].beta;
  const bool alike =
      std::ranges::all_of(matrices, [&](const BandOfNodes& matrix) { return matrix.beta == beta; });
  if (!alike || beta < 1 || beta >= dimension) return {};
  const auto different =
      static_cast<int>(std::min(matrices.size(), static_cast<size_t>(dimension) / static_cast<size_t>(beta)));
  const auto known = found_placement(dimension, beta, different);
  if (!known) return {};
  std::vector<gf2::AffineMap> maps;
  for (size_t m = 0; m < matrices.size(); ++m)
    maps.push_back(placed(dimension, beta, known->matrices[m % known->matrices.size()]));
  return maps;
}

std::vector<gf2::AffineMap> rotated_on(int dimension, const std::vector<BandOfNodes>& matrices) {
  std::vector<gf2::AffineMap> maps;
  int rotation = 0;
  for (const BandOfNodes& matrix : matrices) {
    maps.push_back(rotated_assignment(dimension, matrix.beta, rotation));
    rotation = (rotation + std::max(matrix.beta, 1)) % std::max(dimension, 1);
  }
  return maps;
}

std::vector<gf2::AffineMap> drawn(int dimension, const std::vector<BandOfNodes>& matrices, Dice& dice) {
  std::vector<gf2::AffineMap> maps;
  for (const BandOfNodes& matrix : matrices) {
    Placement placement;
    for (int j = 0; j < dimension; ++j) {
      const auto at = static_cast<std::ptrdiff_t>(dice.next() % static_cast<std::uint32_t>(j + 1));
      placement.order.insert(placement.order.begin() + at, j);
    }
    placement.constant = modulo(dice.next(), dimension);
    maps.push_back(placed(dimension, matrix.beta, placement));
  }
  return maps;
}

// Unlike in band_task(), what arrives takes the slot of its offset, so that the main diagonal stays in place.
BandsAtOnce searched(int dimension, const std::vector<BandOfNodes>& matrices,
                     const std::vector<gf2::AffineMap>& placement) {
  std::vector<uint64_t> reaches;
  for (const BandOfNodes& m : matrices) reaches.push_back(std::max(m.band.back, m.band.ahead));
  std::vector<PlacedBand> bands = placed_bands(dimension, placement, reaches);
  std::vector<Packet> task;
  for (size_t m = 0; m < matrices.size(); ++m) {
    const Diagonals once = matrices[m].band.once(dimension);
    for (uint64_t c = 0; c < pow2(dimension); ++c) {
      const Node from = bands[m].node(c);
      for (uint64_t i = 0; i < once.width(); ++i) {
        const uint64_t offset = i - once.back;
        task.push_back({{from, bands[m].slot(offset)},
                        {bands[m].node(modulo(c + offset, dimension)), bands[m].slot(-offset)}});
      }
    }
  }
  const uint64_t slots = bands.back().first_slot + bands.back().width;
  return {std::make_shared<Routed>(dimension, slots, task), std::move(bands), "search"};
}

/// The link crossings of the task; nothing if it is too large for a search.
std::optional<uint64_t> crossings_of(int dimension, const std::vector<BandOfNodes>& matrices) {
  uint64_t crossings = 0, slots = 0;
  for (const BandOfNodes& matrix : matrices) {
    crossings += band_crossings(dimension, matrix.beta, matrix.band.once(dimension));
    slots += std::min(pow2(dimension), 2 * std::max(matrix.band.back, matrix.band.ahead) + 1);
    if (crossings > Routed::max_crossings || slots > Routed::max_places >> dimension) return {};
  }
  return crossings;
}

// The search with the placement that was found or, if there is none, the best search of several placements.
BandsAtOnce best_searched(int dimension, const std::vector<BandOfNodes>& matrices, uint64_t crossings,
                          uint64_t limit) {
  constexpr uint64_t most_tries = 16;
  if (const auto placement = best_placement(dimension, matrices)) {
    return searched(dimension, matrices, *placement);
  }
  BandsAtOnce best = searched(dimension, matrices, rotated_on(dimension, matrices));
  const uint64_t tries =
      matrices.size() == 1 ? 1 : std::min(most_tries, limit / std::max<uint64_t>(crossings, 1));
  Dice dice(1);
  for (uint64_t i = 1; i < tries; ++i) {
    BandsAtOnce other = searched(dimension, matrices, drawn(dimension, matrices, dice));
    if (other.schedule->steps() < best.schedule->steps()) best = std::move(other);
  }
  return best;
}

}  // namespace

BandsAtOnce bands_at_once(int dimension, std::span<const Diagonals> bands, uint64_t search_limit,
                          bool only_search) {
  static_cast<void>(Network::hypercube(dimension));
  if (bands.empty()) throw InputError("no banded matrix: at least one is needed");
  std::vector<BandOfNodes> matrices;
  for (const Diagonals& band : bands) matrices.push_back(of_nodes(dimension, band));
  BandsAtOnce best = in_turn(dimension, matrices);
  const uint64_t steps_in_turn = best.schedule->steps();
  const auto consider = [&](BandsAtOnce other) {
    if (other.schedule->steps() < best.schedule->steps()) best = std::move(other);
  };
  std::optional<uint64_t> steps_in_phases;
  if (in_phases(dimension, matrices)) {
    BandsAtOnce phases = two_phases(dimension, matrices);
    steps_in_phases = phases.schedule->steps();
    consider(std::move(phases));
  }
  const bool optimal = matrices.size() == 1 && best.schedule->steps() == best.schedule->lower_bound();
  const auto crossings = crossings_of(dimension, matrices);
  const bool affordable = crossings && *crossings <= search_limit;
  if (only_search) {
    if (!affordable) throw InputError("the bands are too large for a search");
    best = best_searched(dimension, matrices, *crossings, search_limit);
  } else if (!optimal && affordable) {
    consider(best_searched(dimension, matrices, *crossings, search_limit));
  }
  best.steps_in_turn = steps_in_turn;
  best.steps_in_phases = steps_in_phases;
  return best;
}

}  // namespace xorder::schedule
