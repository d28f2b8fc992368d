// What is kept for each communicator of the callers.
#pragma once

#include <mpi.h>

namespace xorder::mpi {

struct Communicator {
  /// A duplicate of the caller's, in which only we send. It has the caller's error handler.
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 0;
  unsigned threads = 1;  ///< this rank's share of the processors that it may run on
};

/// What we keep for this communicator. It is made at the first call, by all ranks together, and freed with
/// the communicator. Throws InputError if that is null or joins two groups (an intercommunicator),
/// c::StatusError if MPI reports an error.
const Communicator& communicator(MPI_Comm callers);

}  // namespace xorder::mpi
