#include "mpi/perform.hpp"

#include <fmt/format.h>

#include <array>
#include <climits>
#include <cstddef>
#include <exception>
#include <functional>

#include "c/border.hpp"
#include "c/options.hpp"
#include "mpi/communicator.hpp"
#include "mpi/must.hpp"
#include "mpi/prepared.hpp"
#include "plan/processors/exchange_memory.hpp"

namespace xorder::mpi {
namespace {

using std::uint64_t;

void check_mpi() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (!initialised)
    throw c::StatusError(XORDER_ERROR_MPI, "MPI is not initialised: call MPI_Init_thread first");
  if (finalised) throw c::StatusError(XORDER_ERROR_MPI, "MPI is finalised");
}

// The size of each of a rank's data and temp, in bytes.
uint64_t room(const Plan& plan, int rank, uint64_t element_bytes) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(std::max(plan.elements_before(rank), plan.elements_after(rank)), element_bytes,
                             &bytes) ||
      bytes > INT64_MAX) {
    throw InputError(
        fmt::format("a rank's elements of {} bytes each are too many: 2^63 bytes or more", element_bytes));
  }
  return bytes;
}

// Where the first version's struct ended: no program has a smaller one.
constexpr std::size_t first_size = offsetof(xorder_mpi_options, slice_bytes) + sizeof(uint64_t);

/// Options with their defaults filled in.
struct Chosen {
  unsigned threads = 1;
  uint64_t slice_bytes = plan::default_slice_bytes;
};

Chosen choose(const xorder_mpi_options* given, const Communicator& comm) {
  const xorder_mpi_options options = given ? c::known_part(*given, first_size) : xorder_mpi_options{};
  const unsigned threads = c::checked_threads(options.threads);
  if (options.reserved != 0)
    throw c::ArgumentError(fmt::format("options.reserved is {}, not 0", options.reserved));
  if (options.slice_bytes > INT_MAX) {
    throw c::ArgumentError(fmt::format("slices of {} bytes; expected 1 to {}, or 0 for the default",
                                       options.slice_bytes, INT_MAX));
  }
  int level = MPI_THREAD_SINGLE;
  must(MPI_Query_thread(&level), "MPI_Query_thread");
  if (threads != 1 && level < MPI_THREAD_FUNNELED) {
    throw c::ArgumentError(
        "MPI was initialised for one thread only; use MPI_Init_thread with MPI_THREAD_FUNNELED, or set "
        "options.threads to 1");
  }
  Chosen chosen;
  chosen.threads = threads != 0 ? threads : comm.threads;
  if (options.slice_bytes != 0) chosen.slice_bytes = options.slice_bytes;
  return chosen;
}

void check(const Arguments& a, const Communicator& comm) {
  if (a.refused) throw InputError(a.refused);
  c::require(a.plan, "plan");
  if (a.plan->ranks() != comm.ranks) {
    throw InputError(
        fmt::format("the plan is for {} ranks, the communicator has {}", a.plan->ranks(), comm.ranks));
  }
  if (a.element_bytes == 0) throw InputError("an element must have at least 1 byte");
  const uint64_t bytes = room(*a.plan, comm.rank, a.element_bytes);
  if (bytes == 0) return;
  c::require(a.data, "data");
  c::require(a.temp, "temp");
  const std::less<> before;
  if (before(a.data, a.temp + bytes) && before(a.temp, a.data + bytes))
    throw c::ArgumentError("data and temp overlap");
}

// Throws unless all ranks gave the same arguments and none has failed.
void agree(const Communicator& comm, const Arguments& a, uint64_t bytes_of_slices,
           const std::exception_ptr& failed) {
  enum { failing_rank, permutation, element_bytes, slice_bytes, count };
  std::array<uint64_t, 2 * count> words{};
  words[failing_rank] = failed ? static_cast<uint64_t>(comm.rank) + 1 : 0;
  words[permutation] = a.plan ? a.plan->digest() : 0;
  words[element_bytes] = a.element_bytes;
  words[slice_bytes] = bytes_of_slices;
  for (std::size_t i = 0; i < count; ++i) words[count + i] = ~words[i];  // their maximum gives the minimum
  must(MPI_Allreduce(MPI_IN_PLACE, words.data(), 2 * count, MPI_UINT64_T, MPI_MAX, comm.comm),
       "MPI_Allreduce");
  if (failed) std::rethrow_exception(failed);
  const auto highest = [&](std::size_t i) { return words[i]; };
  const auto lowest = [&](std::size_t i) { return ~words[count + i]; };
  if (highest(failing_rank) != 0) {
    throw InputError(
        fmt::format("rank {} cannot take part; its own message says why", highest(failing_rank) - 1));
  }
  if (highest(permutation) != lowest(permutation)) {
    throw InputError("the ranks' plans differ: all must plan the same permutation");
  }
  if (highest(element_bytes) != lowest(element_bytes)) {
    throw InputError(
        fmt::format("the ranks' elements differ, from {} bytes to {}: all must give the same size",
                    lowest(element_bytes), highest(element_bytes)));
  }
  if (highest(slice_bytes) != lowest(slice_bytes)) {
    throw InputError(fmt::format("the ranks' slices differ, from {} bytes to {}: all must give the same",
                                 lowest(slice_bytes), highest(slice_bytes)));
  }
}

}  // namespace

void perform(MPI_Comm callers, const Arguments& a) {
  check_mpi();
  const Communicator& comm = communicator(callers);
  Chosen chosen;
  std::optional<Prepared> prepared;
  std::exception_ptr failed;
  try {
    check(a, comm);
    chosen = choose(a.options, comm);
    if (!a.plan->does_nothing()) {
      prepared.emplace(*a.plan, comm.rank, a.element_bytes, chosen.slice_bytes);
      prepared->permute_before(a.data, a.temp, chosen.threads);
    }
  } catch (...) {
    failed = std::current_exception();
  }
  agree(comm, a, chosen.slice_bytes, failed);
  if (prepared) prepared->run(comm.comm, a.data, a.temp, chosen.threads);
}

}  // namespace xorder::mpi
