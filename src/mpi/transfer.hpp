// Moves elements between ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace xorder::mpi {

/// What one rank does in an exchange of all ranks. All memory for it is allocated in the constructor.
class Transfer {
 public:
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// All ranks of `comm` call this, while nothing else goes on in it. Only this thread calls MPI. If MPI
  /// reports an error, throws c::StatusError; then the target's content and the state of the communicator are
  /// undefined.
  virtual void run(MPI_Comm comm, const std::byte* source, std::byte* target) = 0;

  /// What this rank has sent to others in all runs so far. What goes to one rank in a round counts as one
  /// message, however many slices it is sent in.
  struct Sent {
    std::uint64_t messages = 0, bytes = 0;
  };
  const Sent& sent() const { return sent_; }

 protected:
  Transfer() = default;
  Sent sent_;
};

}  // namespace xorder::mpi
