// One permutation of distributed data, from the check of the arguments to the last element.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "mpi/plan.hpp"
#include "xorder_mpi.h"

namespace xorder::mpi {

struct Arguments {
  const Plan* plan = nullptr;
  std::uint64_t element_bytes = 0;
  std::byte* data = nullptr;
  std::byte* temp = nullptr;
  const xorder_mpi_options* options = nullptr;
  const char* refused = nullptr;  ///< why this rank cannot take part
};

/// As xorder_mpi_perform(). All that can fail on one rank is done first, then the ranks agree that it failed
/// on none and that they mean the same: so either all throw, with data as they were, or all begin. Throws
/// InputError, std::bad_alloc, or c::StatusError.
void perform(MPI_Comm comm, const Arguments& arguments);

}  // namespace xorder::mpi
