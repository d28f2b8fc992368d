// How the rounds of a BMMC permutation (schedule/rounds.hpp) are done from file to file.
//
// The blocks of a *batch* of processors, as many as fit in memory and take the least time, are made at once.
// What they receive from one processor should lie together in its part of the file, so that it is read at
// once however small the chunks are. The order of elements within a chunk and of the chunks within a block is
// free, since the pass before can put them in any order. So free_order() chooses both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/processors/processors.hpp"
#include "schedule/rounds.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

/// An order of the numbers j with which a map, applied after it, leaves as many of their low bits as possible
/// as they are.
struct FreeOrder {
  gf2::BitMatrix order;  ///< number j of this order is number order(j) of the other
  gf2::BitMatrix map;    ///< the map after it: its columns' highest bits ascend
  int lg_run = 0;        ///< how many of the lowest bits that leaves as they are
};
/// The order with the longest runs. For every t, numbers whose images differ in the low t bits only are
/// consecutive. Requires independent columns.
FreeOrder free_order(const gf2::BitMatrix& map);

class RoundsOnFiles {
 public:
  /// Throws InputError if the extents are not powers of two, for a number of processors or a layout that does
  /// not fit, and if the memory is too small. `layout` is the lowest bit of the processor number in an
  /// element's index; default: the top bits.
  RoundsOnFiles(const Reordering& what, std::optional<int> layout, const ProcessorSetting& setting);

  /// The permutation before the rounds: from the file's order to that in which the chunks are sent.
  const gf2::AffineMap& before() const { return before_; }
  /// The permutation after them: from blocks of processors to the file's order.
  gf2::AffineMap after() const;

  /// The reordering that moves the elements by this map of their numbers.
  Reordering on_elements(const gf2::AffineMap& map) const;

  const schedule::Rounds& rounds() const { return rounds_; }
  std::uint64_t processors() const { return rounds_.network().nodes(); }
  std::uint64_t elements() const { return processors() << rounds_.lg_block(); }
  std::uint64_t element_bytes() const { return element_bytes_; }
  std::uint64_t bytes() const { return elements() * element_bytes_; }
  std::uint64_t block_bytes() const { return element_bytes_ << rounds_.lg_block(); }
  std::uint64_t chunk_bytes() const { return element_bytes_ << rounds_.lg_chunk(); }
  /// How many processors' blocks are made together. A batch begins at a multiple of this.
  std::uint64_t batch() const { return batch_; }

  /// If files are mapped: the shortest range (processors.hpp), and how many neighbours share a mapping.
  std::uint64_t least_in_place() const { return plan::least_in_place(batch_ * block_bytes()); }
  std::uint64_t blocks_together() const;

  /// The chunks of a processor that go to the same batch lie together, this many at a time.
  std::uint64_t chunks_together() const { return std::uint64_t{1} << lg_together_; }
  /// Which chunk of its sender's part of the file is sent in a round.
  std::uint64_t chunk(std::uint64_t round) const { return chunk_of_round_(round); }

  /// Where the chunk that came from `sender` in a round belongs in the receiver's block: its piece i at piece
  /// places·i ⊕ offset.
  struct Scatter {
    const std::vector<gf2::Word>& places;  ///< columns of a matrix
    gf2::Word offset = 0;
    std::uint64_t piece_bytes = 0;
  };
  Scatter scatter(schedule::Node sender, std::uint64_t round) const;

  const PassSummary& pass() const { return pass_; }
  std::string describe() const;

 private:
  void order_chunks();
  void choose_batch(const ProcessorSetting& setting);
  std::uint64_t largest_batch(const ProcessorSetting& setting) const;
  /// How many chunks that one batch of that size receives from one processor lie together, and the pass.
  int lg_together(std::uint64_t batch) const;
  PassSummary pass_of(std::uint64_t batch, const ProcessorSetting& setting) const;
  gf2::AffineMap arrangement(const gf2::BitMatrix& order_of_chunks) const;

  std::uint64_t element_bytes_;
  schedule::Rounds rounds_;
  FreeOrder elements_;                 // of a chunk; its map gives their places at the receiver
  std::vector<gf2::Word> run_places_;  // the places of runs
  gf2::BitMatrix chunk_of_round_;
  gf2::BitMatrix chunk_places_;  // of chunks in their order: the receiver, relative to the sender
  gf2::AffineMap before_;
  std::uint64_t batch_ = 1;
  int lg_together_ = 0;
  PassSummary pass_;
};

}  // namespace xorder::plan
