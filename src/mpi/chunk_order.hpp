// In which order the elements of a chunk travel: that of their places at the receiver. Then these places ascend, so that the
// receiver goes through its memory once, and elements that belong together arrive together, as a piece.
//
// Let element j of a chunk belong at place α' j ⊕ offset, where the offset depends on sender and round. Elements can be
// numbered so that the columns of α' have different highest bits, ascending, each 0 in all other columns (plan::free_order).
// What α' can reach of the offset, j ⊕ coordinates·offset takes care of; in what remains these bits are 0. So then the places
// ascend with j, and the offset does not touch the lowest bits, which a piece keeps.
#pragma once

#include "plan/rounds.hpp"
#include "xorder/schedule/rounds.hpp"

namespace xorder::mpi {

class ChunkOrder {
 public:
  explicit ChunkOrder(const schedule::Rounds& rounds);

  /// A piece has 2^lg_piece elements.
  int lg_piece() const { return free_.lg_run; }
  /// Where the element at a place of `rank` has to lie for the exchange: chunk by chunk, in this order.
  gf2::AffineMap before(const schedule::Rounds& rounds, schedule::Node rank) const;
  /// Element j of the chunk from `sender` belongs at the receiver's place map(j) ⊕ offset(sender, round).
  const gf2::BitMatrix& map() const { return free_.map; }
  gf2::Word offset(const schedule::Rounds& rounds, schedule::Node sender, std::uint64_t round) const;

 private:
  plan::FreeOrder free_;
  gf2::BitMatrix coordinates_;  // picks the highest bits of the columns of the map
};

}  // namespace xorder::mpi
