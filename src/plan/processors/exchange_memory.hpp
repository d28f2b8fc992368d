// How much memory an exchange between ranks takes besides the array. The code that exchanges (src/mpi) and
// the code that plans within a memory bound (parts.hpp) have to agree on it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace xorder::plan {

/// Messages are moved in slices (mpi/exchange.hpp), and `received_slices` of them are received at once. A
/// slice takes long compared to the latency of a message, and all of them fit in a second-level cache.
inline constexpr std::uint64_t default_slice_bytes = std::uint64_t{1} << 18;
inline constexpr int received_slices = 4;

/// Or elements are moved in groups (mpi/groups.hpp), and so many groups have a buffer: the one that is being
/// put in its places, and the next.
inline constexpr std::uint64_t buffered_groups = 2;
/// The buffer in which the elements of a group are put in order (mpi/merge.cpp).
inline constexpr std::uint64_t merge_bytes = std::uint64_t{1} << 20;

/// Bytes of a group of elements from `senders` ranks. It fits in the cache too, unless each rank's message
/// would then be too short. It is larger in that case, but at most 1/32 of the receiver's part of the array.
constexpr std::uint64_t group_bytes(std::uint64_t senders, std::uint64_t part_bytes) {
  constexpr std::uint64_t cached = std::uint64_t{1} << 20, least_slice = std::uint64_t{1} << 14;
  constexpr std::uint64_t least_groups = 32;
  return std::max(cached, std::min(least_slice * senders, part_bytes / least_groups));
}

/// The most bytes of buffers that a rank needs to exchange its part of an array, in slices of the default
/// size.
constexpr std::uint64_t exchange_memory(std::uint64_t ranks, std::uint64_t part_bytes) {
  return std::max(received_slices * default_slice_bytes,
                  buffered_groups * group_bytes(ranks, part_bytes) + merge_bytes);
}

}  // namespace xorder::plan
