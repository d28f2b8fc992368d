// The pass of the common tiles, on one rank. While a tile is permuted among all ranks, the one before it is
// written and the next one is read.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "io/memory.hpp"
#include "machine/storage.hpp"
#include "mpi/prepared.hpp"
#include "plan/parts.hpp"
#include "work/run.hpp"

namespace xorder::parts {

class TilesPass {
 public:
  /// Allocates three parts of a tile; requests and the exchange take the rest of plan.pass().memory. The
  /// arguments must outlive this object.
  TilesPass(const plan::PartsPlan& plan, work::Run& run, MPI_Comm comm, io::Location source,
            io::Location target);

  /// Collective. `number` is the number of the pass. Only this thread calls MPI. Throws IoError, Cancelled,
  /// and what the team throws if another rank has failed.
  void move(std::size_t number);

  /// What this rank has sent.
  const mpi::Transfer::Sent& sent() const { return sent_; }

 private:
  enum class Direction { read, write };

  std::byte* part(std::uint64_t tile) const { return parts_[tile % 2].data(); }
  void transfer(Direction direction, std::uint64_t tile);
  void permute(std::uint64_t tile);

  const plan::PartsPlan& plan_;
  const plan::CommonTiling& tiling_;
  work::Run& run_;
  MPI_Comm comm_;
  io::Location source_, target_;
  machine::Storage storage_;
  std::uint64_t rank_;
  unsigned threads_;
  io::BlockMemory parts_[2], temp_;
  mpi::Transfer::Sent sent_;
};

}  // namespace xorder::parts
