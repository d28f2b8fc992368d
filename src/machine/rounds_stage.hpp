// The rounds of a BMMC permutation (schedule/rounds.hpp), from a file in which each processor's elements lie
// in the order of their chunks, to one in which they lie in the order of their places.
//
// Blocks that fit in memory together are made at a time. For them the rounds run in the machine: their
// processors receive, all processors send chunks from their part of the file. What a chunk brings belongs all
// over the receiver's block, which is why that has to be in memory, and why it does not matter that the file
// is not.
#pragma once

#include "machine/stage.hpp"
#include "xorder/schedule/rounds.hpp"

namespace xorder::machine {

/// The order of elements within a chunk is free, as long as sender and receiver agree. This one makes as many
/// of the lowest bits as possible go to the same bits of the place, so that elements are put there in runs.
struct ChunkOrder {
  gf2::BitMatrix order;  ///< element j of the chunk is the paper's element order(j)
  /// α' order: its place at the receiver, apart from what all elements of the chunk have in common.
  gf2::BitMatrix places;
  int lg_run = 0;  ///< the lowest bits that it leaves as they are
};
ChunkOrder chunk_order(const gf2::BitMatrix& alpha_1);

class RoundsStage final : public Stage {
 public:
  /// Throws InputError if no processor's block fits in the memory.
  RoundsStage(schedule::Rounds rounds, std::uint64_t element_bytes, std::uint64_t memory);

  /// What has to be done before: from the file's order to W's, and within chunks to chunk_order's.
  gf2::AffineMap before() const;
  /// Whether so many blocks of 1/P of these bytes fit at a time, beside what the processors take themselves.
  static bool fits(std::uint64_t bytes, int lg_processors, std::uint64_t memory, std::uint64_t blocks = 1);

  std::vector<plan::PassSummary> passes() const override;
  std::string describe() const override;
  void move(work::Run& run, io::Location source, io::Location target, std::size_t pass) override;

 private:
  class Group;
  std::uint64_t block_bytes() const { return element_bytes_ << rounds_.lg_block(); }

  schedule::Rounds rounds_;
  ChunkOrder chunk_;
  std::uint64_t element_bytes_;
  std::uint64_t memory_;
  std::uint64_t group_ = 1;  // processors whose blocks are made together
};

}  // namespace xorder::machine
