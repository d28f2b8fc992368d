#include "mpi/groups.hpp"

#include <algorithm>

#include "memory/micro.hpp"
#include "mpi/must.hpp"

namespace xorder::mpi {
namespace {

using std::uint64_t;

void wait_for(std::vector<MPI_Request>& requests) {
  must(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

bool are_done(std::vector<MPI_Request>& requests) {
  int done = 0;
  must(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
       "MPI_Testall");
  return done != 0;
}

}  // namespace

Groups::Groups(int rank, uint64_t rounds, uint64_t groups, uint64_t group_bytes)
    : rank_(rank),
      rounds_(rounds),
      groups_(groups),
      group_bytes_(group_bytes),
      buffers_(std::make_unique<memory::Scratch>(buffered * group_bytes)) {
  for (Requests& requests : arriving_) requests.reserve(rounds);
  for (Requests& requests : leaving_) requests.reserve(rounds);
}

Groups::~Groups() = default;

void Groups::receive(MPI_Comm comm, uint64_t group) {
  Requests& requests = arriving_[group % buffered];
  requests.clear();
  for (uint64_t round = 0; round < rounds_; ++round) {
    const Part part = received(group, round);
    if (part.peer == rank_ || part.bytes == 0) continue;
    must(MPI_Irecv(buffer(group) + part.begin, static_cast<int>(part.bytes), MPI_BYTE, part.peer, 0, comm,
                   &requests.emplace_back(MPI_REQUEST_NULL)),
         "MPI_Irecv");
  }
}

void Groups::send(MPI_Comm comm, uint64_t group, const std::byte* source) {
  Requests& requests = leaving_[group % offered];
  requests.clear();
  for (uint64_t round = 0; round < rounds_; ++round) {
    const Part part = sent(group, round);
    if (part.peer == rank_ || part.bytes == 0) continue;
    must(MPI_Isend(source + part.begin, static_cast<int>(part.bytes), MPI_BYTE, part.peer, 0, comm,
                   &requests.emplace_back(MPI_REQUEST_NULL)),
         "MPI_Isend");
    sent_.messages += group == 0;
    sent_.bytes += part.bytes;
  }
}

void Groups::run(MPI_Comm comm, const std::byte* source, std::byte* target) {
  try {
    uint64_t next_in = 0, next_out = 0;
    for (uint64_t group = 0; group < groups_; ++group) {
      for (; next_in < std::min(groups_, group + buffered); ++next_in) receive(comm, next_in);
      // This group has to be sent now, because other ranks may wait for it. Later ones are sent too, as far
      // as there are free slots.
      for (; next_out < groups_; ++next_out) {
        Requests& before = leaving_[next_out % offered];
        if (next_out <= group)
          wait_for(before);
        else if (!are_done(before))
          break;
        send(comm, next_out, source);
      }
      wait_for(arriving_[group % buffered]);
      put(group, buffer(group), source, target);
    }
    for (Requests& requests : leaving_) wait_for(requests);
    memory::finish_streams();
  } catch (...) {
    buffers_.release();  // MPI may still write to them
    throw;
  }
}

}  // namespace xorder::mpi
