// The order in which the elements of a chunk travel: that of their places at the receiver. So the receiver
// goes through its memory once, and elements that belong together arrive together, as a piece.
//
// Let element j of a chunk belong at place α' j ⊕ offset, where the offset depends on sender and round.
// Elements can be numbered so that the columns of α' have different highest bits, ascending, each 0 in all
// other columns (plan::free_order). Renumbering j to j ⊕ coordinates·offset removes from the offset the part
// that α' can reach; in what remains these bits are 0. Then the places ascend with j, and the offset does not
// change the lowest bits, which a piece keeps.
#pragma once

#include <optional>

#include "plan/processors/rounds.hpp"
#include "schedule/rounds.hpp"

namespace xorder::mpi {

/// How one slice of each chunk together make one stretch of the receiver's block: see Merge.
struct ChunkGroups {
  int lg_slice = 0;     ///< lg of the elements of a slice
  gf2::BitMatrix map;   ///< from position·2^lg_slice + j in the group to the place in its stretch
  gf2::AffineMap turn;  ///< from the group's number to the t of position()

  /// Where the slice that arrives in a round lies in the group. Group g fills stretch g.
  std::uint64_t position(std::uint64_t group, std::uint64_t round) const { return round ^ turn(group); }
};

class ChunkOrder {
 public:
  explicit ChunkOrder(const schedule::Rounds& rounds);

  /// lg of the elements of a piece.
  int lg_piece() const { return free_.lg_run; }
  /// Where the element at a place of `rank` has to lie for the exchange: chunk by chunk, in this order.
  gf2::AffineMap before(const schedule::Rounds& rounds, schedule::Node rank) const;
  /// Where the element that arrived at a position, chunk by chunk in the order of the rounds, belongs at
  /// `rank`.
  gf2::AffineMap after(const schedule::Rounds& rounds, schedule::Node rank) const;
  /// The same for one chunk: element j of that from `sender` belongs at map(j) ⊕ offset(sender, round).
  const gf2::BitMatrix& map() const { return free_.map; }
  gf2::Word offset(const schedule::Rounds& rounds, schedule::Node sender, std::uint64_t round) const;

  /// Groups of 2^lg_slice elements of each chunk, or nothing if they do not make a stretch. They make one if
  /// the lowest lg_slice + rank γ bits of a place say which chunk it is in. Requires 0 ≤ lg_slice ≤ lg_chunk.
  std::optional<ChunkGroups> groups(const schedule::Rounds& rounds, schedule::Node rank, int lg_slice) const;

 private:
  /// The offsets at one receiver, as a map of the round.
  gf2::AffineMap offsets(const schedule::Rounds& rounds, schedule::Node rank) const;

  plan::FreeOrder free_;
  gf2::BitMatrix coordinates_;  // picks the highest bits of the columns of the map
};

}  // namespace xorder::mpi
