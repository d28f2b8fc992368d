#include "mpi/must.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <string_view>

#include "c/border.hpp"
#include "xorder_mpi.h"

namespace xorder::mpi {

void must(int returned, const char* function) {
  if (returned == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(returned, text, &length) != MPI_SUCCESS) length = 0;
  throw c::StatusError(
      XORDER_ERROR_MPI,
      fmt::format("{}: {}", function, std::string_view(text, static_cast<std::size_t>(length))));
}

}  // namespace xorder::mpi
