// Moving elements between ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace xorder::mpi {

/// What one rank does in one exchange of all ranks. Has allocated all that it needs.
class Transfer {
 public:
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Called by all ranks of `comm`, in which nothing else is under way. Only this thread calls MPI. If MPI
  /// reports an error, throws c::StatusError: then the target's content is undefined, and so is what the
  /// communicator still does.
  virtual void run(MPI_Comm comm, const std::byte* source, std::byte* target) = 0;

  /// What this rank has sent to others in all runs so far. What goes to one rank in a round is one message,
  /// however many slices it is sent in.
  struct Sent {
    std::uint64_t messages = 0, bytes = 0;
  };
  const Sent& sent() const { return sent_; }

 protected:
  Transfer() = default;
  Sent sent_;
};

}  // namespace xorder::mpi
