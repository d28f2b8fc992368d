// Isotropic tasks on a hypercube (Varvarigos and Bertsekas, "Transposition of banded matrices in hypercubes:
// a nearly isotropic task", Parallel Computing 21, 1995, 243-264).
//
// Every node v has the same set of routing tags t, each a packet for node v ⊕ t. All nodes do the same in a
// step. A packet may cross its dimensions in any order, but in one step two packets of a node may not cross
// the same dimension, nor one packet two dimensions. So the task matrix, with a row for each tag and a column
// for each dimension, must be a sum of matrices with at most one 1 in each row and column, one for each step.
// The fewest are h, the critical sum (the largest row or column sum): a bipartite graph of largest degree h
// has an edge colouring with h colours (König), which alternating paths find.
//
//   tags 110    h = 2: two steps suffice,   100   010
//        011                                010 + 001
//        100                                000   100
#pragma once

#include <vector>

#include "xorder/gf2/bit_matrix.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

class Isotropic final : public Schedule {
 public:
  /// Slot r of each node holds its packet with tags[r], and at the end the one that has come with this tag.
  /// Tags may repeat and may be 0. Throws InputError if a tag has bits at `dimension` or above. Time O(ones ·
  /// (tags + dimension)).
  Isotropic(std::vector<gf2::Word> tags, int dimension);

  const std::vector<gf2::Word>& tags() const { return tags_; }
  /// Which packet crosses dimension j in a step, or −1.
  int packet(std::uint64_t step, int j) const {
    return table_[static_cast<std::size_t>(step)][static_cast<std::size_t>(j)];
  }

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;

 private:
  Isotropic(const Network& hypercube, std::vector<gf2::Word> tags);

  std::vector<gf2::Word> tags_;
  std::vector<std::vector<int>> table_;  // by step and dimension
};

}  // namespace xorder::schedule
