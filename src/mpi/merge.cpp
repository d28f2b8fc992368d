#include "mpi/merge.hpp"

#include <cstring>

#include "memory/bmmc/bmmc.hpp"
#include "memory/scratch.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::mpi {

using schedule::Node;
using schedule::Rounds;
using std::uint64_t;

Merge::Merge(const Rounds& rounds, ChunkGroups groups, Node rank, uint64_t element_bytes)
    : Groups(static_cast<int>(rank), rounds.steps(), uint64_t{1} << (rounds.lg_chunk() - groups.lg_slice),
             (element_bytes << groups.lg_slice) * rounds.steps()),
      rounds_(rounds),
      groups_(std::move(groups)),
      chunk_bytes_(element_bytes << rounds.lg_chunk()),
      slice_bytes_(element_bytes << groups_.lg_slice) {
  const ArrayShape group{{rounds.steps() << groups_.lg_slice}, element_bytes, Order::c};
  engine_ = memory::make_bmmc_engine(canonical(mapping_of_all(group, {groups_.map, 0})), true);
  // If put() ran out of memory, other ranks would wait forever. So this thread keeps a buffer for the engine
  // from now on. The engine's tiles are smaller.
  static_assert(plan::merge_bytes == memory::Scratch::most_kept);
  const memory::Scratch kept(plan::merge_bytes);
}

Merge::~Merge() = default;

Groups::Part Merge::received(uint64_t group, uint64_t round) const {
  return {static_cast<int>(rounds_.source(node(), round)), groups_.position(group, round) * slice_bytes_,
          slice_bytes_};
}

Groups::Part Merge::sent(uint64_t group, uint64_t round) const {
  return {static_cast<int>(rounds_.target(node(), round)), round * chunk_bytes_ + group * slice_bytes_,
          slice_bytes_};
}

void Merge::put(uint64_t group, std::byte* buffer, const std::byte* source, std::byte* target) {
  for (uint64_t round = 0; round < rounds(); ++round) {
    if (rounds_.source(node(), round) != node()) continue;
    std::memcpy(buffer + received(group, round).begin, source + sent(group, round).begin, slice_bytes_);
  }
  engine_->perform(0, engine_->tasks(), buffer, target + group * slice_bytes_ * rounds());
}

}  // namespace xorder::mpi
