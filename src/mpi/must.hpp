#pragma once

namespace xorder::mpi {

/// Throws c::StatusError with XORDER_ERROR_MPI and MPI's text if what an MPI function returned is not
/// MPI_SUCCESS.
void must(int returned, const char* function);

}  // namespace xorder::mpi
