#pragma once

namespace xorder::mpi {

/// Throws c::StatusError with XORDER_ERROR_MPI and MPI's text unless the MPI function returned MPI_SUCCESS.
void must(int returned, const char* function);

}  // namespace xorder::mpi
