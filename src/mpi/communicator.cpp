#include "mpi/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "mpi/must.hpp"
#include "xorder/error.hpp"

namespace xorder::mpi {
namespace {

// Called by MPI when the caller's communicator is freed.
int free_ours(MPI_Comm, int, void* attribute, void*) {
  const std::unique_ptr<Communicator> ours(static_cast<Communicator*>(attribute));
  return MPI_Comm_free(&ours->comm);
}

int our_key() {
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID) {
    must(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_ours, &key, nullptr), "MPI_Comm_create_keyval");
  }
  return key;
}

// How many processors this rank may run on, divided by the ranks of its node that may run on the same ones.
unsigned share_of_processors(MPI_Comm comm) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // With more than 1024 processors this fails. The rank must still take part in what follows.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  MPI_Comm node = MPI_COMM_NULL;
  must(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int neighbours = 0;
  MPI_Comm_size(node, &neighbours);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(neighbours));
  must(MPI_Allgather(&allowed, sizeof allowed, MPI_BYTE, all.data(), sizeof allowed, MPI_BYTE, node),
       "MPI_Allgather");
  must(MPI_Comm_free(&node), "MPI_Comm_free");
  const auto sharing =
      std::ranges::count_if(all, [&](const cpu_set_t& other) { return CPU_EQUAL(&other, &allowed); });
  return static_cast<unsigned>(std::max<std::ptrdiff_t>(1, CPU_COUNT(&allowed) / sharing));
}

}  // namespace

const Communicator& communicator(MPI_Comm callers) {
  if (callers == MPI_COMM_NULL) throw InputError("the communicator is MPI_COMM_NULL");
  int joins_two = 0;
  must(MPI_Comm_test_inter(callers, &joins_two), "MPI_Comm_test_inter");
  if (joins_two) throw InputError("an intercommunicator: merge its groups first (MPI_Intercomm_merge)");

  Communicator* ours = nullptr;
  int found = 0;
  must(MPI_Comm_get_attr(callers, our_key(), &ours, &found), "MPI_Comm_get_attr");
  if (!found) {
    auto made = std::make_unique<Communicator>();
    must(MPI_Comm_dup(callers, &made->comm), "MPI_Comm_dup");
    MPI_Comm_rank(callers, &made->rank);
    MPI_Comm_size(callers, &made->ranks);
    made->threads = share_of_processors(made->comm);
    ours = made.get();
    must(MPI_Comm_set_attr(callers, our_key(), ours), "MPI_Comm_set_attr");
    made.release();
  }
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  must(MPI_Comm_get_errhandler(callers, &handler), "MPI_Comm_get_errhandler");
  must(MPI_Comm_set_errhandler(ours->comm, handler), "MPI_Comm_set_errhandler");
  must(MPI_Errhandler_free(&handler), "MPI_Errhandler_free");
  return *ours;
}

}  // namespace xorder::mpi
