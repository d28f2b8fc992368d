// Moving elements between ranks.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace xorder::mpi {

/// What one rank does in one exchange of all ranks. Has allocated all that it needs.
class Transfer {
 public:
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Called by all ranks of `comm`, in which nothing else is under way. Only this thread calls MPI. If MPI reports an error,
  /// throws c::StatusError: then the target's content is undefined, and so is what the communicator still does.
  virtual void run(MPI_Comm comm, const std::byte* source, std::byte* target) = 0;

 protected:
  Transfer() = default;
};

}  // namespace xorder::mpi
