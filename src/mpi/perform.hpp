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

/// Does what xorder_mpi_perform() does. Everything that can fail on one rank is done first, except what
/// Prepared::run() says. Then the ranks agree that it failed on none and that their arguments are the same.
/// So either all throw, with the data unchanged, or all begin. Throws InputError, std::bad_alloc, or
/// c::StatusError.
void perform(MPI_Comm comm, const Arguments& arguments);

}  // namespace xorder::mpi
