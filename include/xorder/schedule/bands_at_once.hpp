// Banded matrices transposed together on one hypercube by the shortest schedule that is known for them. Their
// bands may differ.
//
// Column c of matrix m lies at node(c) of bands[m], and what it has for column c + o, an *offset* of at most
// the band's reach, modulo N, in that band's slot(o). What comes from column c − o ends in the slot of −o or
// wherever the schedule's goal() says. There are three ways, and the one with the fewest steps is taken, the
// first of equals:
//
//   one after another   each by Banded
//   two phases          by BandedBatch, if all are |i − j| ≤ 2^β with the same 1 ≤ β < d, ⌊d/β⌋ of them at most
//   search              by Routed, if that is affordable; found_placement() says where the columns are if all have
//                       the same β. Else it is the best of some placements: each matrix's dimensions rotated on from
//                       those of the one before, and in an order with a constant that are drawn
//
// A single matrix is done in the first way or, where that misses the bound, in the third.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/banded.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::schedule {

/// Where a matrix's columns and their offsets begin.
struct PlacedBand {
  gf2::AffineMap assignment;
  std::uint64_t reach = 0;
  std::uint64_t width = 1;  ///< slots: of the offsets −reach .. reach, or of all if there are no more columns
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
  std::string way;                  ///< "one after another", "two phases" or "search"
  std::uint64_t steps_in_turn = 0;  ///< that the first way takes
};

/// For 2^dimension columns, and bands that may reach around the whole matrix. Searches are made of tasks with
/// at most `search_limit` link crossings, together; they take up to 4 µs for each. Throws InputError if there
/// is no band or the dimension is not from 0 to 20.
BandsAtOnce bands_at_once(int dimension, std::span<const Diagonals> bands,
                          std::uint64_t search_limit = Routed::max_crossings);

}  // namespace xorder::schedule
