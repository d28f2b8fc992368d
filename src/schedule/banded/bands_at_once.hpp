// Banded matrices transposed together on one hypercube by the shortest schedule that is known for them. Their
// bands may differ.
//
// Column c of matrix m lies at node(c) of bands[m]. What it has for column c + o (modulo N) lies in that
// band's slot(o), where the *offset* o is at most the band's reach. What comes from column c − o ends in the
// slot of −o or wherever the schedule's goal() says. There are three ways. The one with the fewest steps is
// taken, the first of equals:
//
//   one after another   each by Banded
//   two phases          by BandedBatch, if all are |i − j| ≤ 2^β with the same 1 ≤ β < d, and at most ⌊d/β⌋
//   search              by Routed, if that is affordable. If all have the same β, found_placement() says
//                       where the columns are. Otherwise the best of several placements is taken: each
//                       matrix's dimensions rotated from those of the one before, or in random orders with
//                       random constants
//
// A single matrix is done in the first way or, where that misses the bound, in the third.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/banded/banded.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::schedule {

/// Where a matrix's columns lie, and in which slots their offsets.
struct PlacedBand {
  gf2::AffineMap assignment;
  std::uint64_t reach = 0;
  std::uint64_t width = 1;  ///< slots: for the offsets −reach .. reach, or for all N if these are fewer
  std::uint64_t first_slot = 0;

  Node node(std::uint64_t column) const { return assignment(column); }
  std::uint64_t slot(std::uint64_t offset) const { return first_slot + modulo(offset + reach); }
  /// Modulo N. Requires that the slot is one of this band's.
  std::uint64_t offset(std::uint64_t slot) const { return modulo(slot - first_slot - reach); }

 private:
  std::uint64_t modulo(std::uint64_t x) const { return x & ((std::uint64_t{1} << assignment.bits()) - 1); }
};

struct BandsAtOnce {
  std::shared_ptr<const Schedule> schedule;
  std::vector<PlacedBand> bands;
  std::string way;                                 ///< "one after another", "two phases" or "search"
  std::uint64_t steps_in_turn = 0;                 ///< the steps of the first way
  std::optional<std::uint64_t> steps_in_phases{};  ///< of the second, where it can be taken
};

/// The schedule for 2^dimension columns. Bands may reach around the whole matrix. The tasks that are searched
/// have at most `search_limit` link crossings together, to which the time of a search is proportional. Throws
/// InputError if there is no band or the dimension is not from 0 to 20. `only_search` takes the third way, if
/// it is longer too, and throws InputError if the task is too large for the limit.
BandsAtOnce bands_at_once(int dimension, std::span<const Diagonals> bands,
                          std::uint64_t search_limit = Routed::max_crossings, bool only_search = false);

}  // namespace xorder::schedule
