// Rounds in which the chunks are merged while they arrive, for elements that interleave with those of other senders: in the
// receiver's memory each cache line has some from each, so that to put them in their places one by one is slow.
//
// All chunks advance together, a slice of each at a time. The slices of one step are a group, which fills one stretch of the
// receiver's block (ChunkOrder::groups()). A group is received into a buffer that fits in the cache, while the group before it is
// permuted from there to its place, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/engine.hpp"
#include "memory/scratch.hpp"
#include "mpi/chunk_order.hpp"
#include "mpi/transfer.hpp"

namespace xorder::mpi {

class Merge final : public Transfer {
 public:
  /// Groups in flight, the one that is being permuted included.
  static constexpr std::uint64_t depth = 4;

  /// `groups` is not trivial: some element changes its position in the group. The rounds stay alive. Allocates `depth` groups.
  Merge(const schedule::Rounds& rounds, ChunkGroups groups, schedule::Node rank, std::uint64_t element_bytes);
  ~Merge() override;

  void run(MPI_Comm comm, const std::byte* source, std::byte* target) override;

 private:
  void start(MPI_Comm comm, std::uint64_t group, const std::byte* source);
  void finish(std::uint64_t group, const std::byte* source, std::byte* target);
  std::byte* buffer(std::uint64_t group) const { return buffers_->data() + group % depth * group_bytes_; }
  std::vector<MPI_Request>& requests(std::uint64_t group) { return requests_[group % depth]; }

  const schedule::Rounds& rounds_;
  ChunkGroups groups_;
  schedule::Node rank_;
  std::uint64_t chunk_bytes_, slice_bytes_, group_bytes_;
  std::unique_ptr<const memory::Engine> engine_;  // from a buffer to its stretch
  std::unique_ptr<memory::Scratch> buffers_;
  std::vector<MPI_Request> requests_[depth];
};

}  // namespace xorder::mpi
