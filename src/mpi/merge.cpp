#include "mpi/merge.hpp"

#include <algorithm>
#include <cstring>

#include "memory/bmmc.hpp"
#include "memory/micro.hpp"
#include "mpi/must.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::mpi {

using schedule::Node;
using schedule::Rounds;
using std::uint64_t;

Merge::Merge(const Rounds& rounds, ChunkGroups groups, Node rank, uint64_t element_bytes)
    : rounds_(rounds),
      groups_(std::move(groups)),
      rank_(rank),
      chunk_bytes_(element_bytes << rounds.lg_chunk()),
      slice_bytes_(element_bytes << groups_.lg_slice),
      group_bytes_(slice_bytes_ * rounds.steps()) {
  const ArrayShape group{{group_bytes_ / element_bytes}, element_bytes, Order::c};
  engine_ = memory::make_bmmc_engine(canonical(mapping_of_all(group, {groups_.map, 0})), true);
  buffers_ = std::make_unique<memory::Scratch>(depth * group_bytes_);
  for (auto& requests : requests_) requests.reserve(2 * rounds.steps());
}

Merge::~Merge() = default;

void Merge::start(MPI_Comm comm, uint64_t group, const std::byte* source) {
  const int bytes = static_cast<int>(slice_bytes_);
  const auto add = [&]() -> MPI_Request* { return &requests(group).emplace_back(MPI_REQUEST_NULL); };
  requests(group).clear();
  for (uint64_t round = 0; round < rounds_.steps(); ++round) {
    const Node sender = rounds_.source(rank_, round), receiver = rounds_.target(rank_, round);
    if (sender == rank_) continue;
    must(MPI_Irecv(buffer(group) + groups_.position(group, round) * slice_bytes_, bytes, MPI_BYTE,
                   static_cast<int>(sender), 0, comm, add()),
         "MPI_Irecv");
    must(MPI_Isend(source + round * chunk_bytes_ + group * slice_bytes_, bytes, MPI_BYTE,
                   static_cast<int>(receiver), 0, comm, add()),
         "MPI_Isend");
    sent_.messages += group == 0;
    sent_.bytes += slice_bytes_;
  }
}

void Merge::finish(uint64_t group, const std::byte* source, std::byte* target) {
  for (uint64_t round = 0; round < rounds_.steps(); ++round) {
    if (rounds_.source(rank_, round) != rank_) continue;
    std::memcpy(buffer(group) + groups_.position(group, round) * slice_bytes_,
                source + round * chunk_bytes_ + group * slice_bytes_, slice_bytes_);
  }
  must(MPI_Waitall(static_cast<int>(requests(group).size()), requests(group).data(), MPI_STATUSES_IGNORE),
       "MPI_Waitall");
  engine_->perform(0, engine_->tasks(), buffer(group), target + group * group_bytes_);
}

void Merge::run(MPI_Comm comm, const std::byte* source, std::byte* target) {
  try {
    const uint64_t groups = chunk_bytes_ / slice_bytes_;
    uint64_t next = 0;
    for (uint64_t group = 0; group < groups; ++group) {
      for (; next < std::min(groups, group + depth); ++next) start(comm, next, source);
      finish(group, source, target);
    }
    memory::finish_streams();
  } catch (...) {
    buffers_.release();  // MPI may still write to them
    throw;
  }
}

}  // namespace xorder::mpi
