// Rounds in which the chunks are merged while they arrive, in groups (groups.hpp). A group is a slice of each
// chunk. It fills one stretch of the receiver's block (ChunkOrder::groups()), and is permuted from its buffer
// to the stretch, line by line.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/engine.hpp"
#include "mpi/chunk_order.hpp"
#include "mpi/groups.hpp"

namespace xorder::mpi {

class Merge final : public Groups {
 public:
  /// Requires that `groups` is not trivial: some element changes its position in the group. `rounds` must
  /// outlive this object. run() must be called by the same thread. Allocates as Groups does, and also the
  /// buffer of 1 MiB that a thread keeps (memory/scratch.hpp).
  Merge(const schedule::Rounds& rounds, ChunkGroups groups, schedule::Node rank, std::uint64_t element_bytes);
  ~Merge() override;

 private:
  Part received(std::uint64_t group, std::uint64_t round) const override;
  Part sent(std::uint64_t group, std::uint64_t round) const override;
  void put(std::uint64_t group, std::byte* buffer, const std::byte* source, std::byte* target) override;
  schedule::Node node() const { return static_cast<schedule::Node>(rank()); }

  const schedule::Rounds& rounds_;
  ChunkGroups groups_;
  std::uint64_t chunk_bytes_, slice_bytes_;
  std::unique_ptr<const memory::Engine> engine_;  // from a buffer to its stretch
};

}  // namespace xorder::mpi
