// An exchange of the messages of a RankSchedule, in slices, with a few in flight in each direction.
//
// A slice of many short pieces is received into a buffer and put in its places from there, while it is in the
// cache. Long pieces are received in their places.
//
// No rank waits forever. Of all slices that have not arrived, take one of the earliest round, and the
// earliest of that message. Its sender has nothing else to send before it, and its receiver nothing else to
// receive, so both have started its transfer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "memory/scratch.hpp"
#include "mpi/rank_schedule.hpp"
#include "mpi/transfer.hpp"
#include "plan/processors/exchange_memory.hpp"

namespace xorder::mpi {

class Exchange final : public Transfer {
 public:
  /// How many slices are being received at a time.
  static constexpr int depth = plan::received_slices;
  /// How many slices are being sent at a time, if source and target are two arrays. These are more, so that a
  /// rank can go on while one that it receives from does not run.
  static constexpr int offered = 16;

  /// `rank` is that in the communicator of run(). If source and target are one array, each round must receive
  /// as many bytes as it sends, as one piece that takes the place of the part that is sent. Allocates at most
  /// `depth` slices. Requires 1 ≤ slice_bytes ≤ INT_MAX. Throws std::bad_alloc.
  Exchange(std::unique_ptr<const RankSchedule> schedule, int rank, std::uint64_t slice_bytes, bool one_array);
  ~Exchange() override;

  void run(MPI_Comm comm, const std::byte* source, std::byte* target) override;

 private:
  class Run;
  std::unique_ptr<const RankSchedule> schedule_;
  int rank_;
  std::uint64_t slice_bytes_;
  bool one_array_;
  std::optional<std::uint64_t> stays_;  // the round in which the rank would send to itself
  std::uint64_t buffer_bytes_ = 0;      // of the buffer for a slice
  std::unique_ptr<memory::Scratch> buffers_;
};

}  // namespace xorder::mpi
