// How much of an exchange between ranks is in memory at once, besides the array: what exchanges (src/mpi),
// and what plans within a memory bound (parts.hpp), have to agree on it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace xorder::plan {

/// Messages are moved in slices (mpi/exchange.hpp), so many of them received at once. Long against the
/// latency of a message; all fit in a second-level cache.
inline constexpr std::uint64_t default_slice_bytes = std::uint64_t{1} << 18;
inline constexpr int received_slices = 4;

/// Or in groups, of which so many have a buffer (mpi/groups.hpp): one that is put in its places, and the
/// next.
inline constexpr std::uint64_t buffered_groups = 2;

/// A group, of elements from `senders` ranks, fits in the cache too. If what each sends were too short then,
/// it is longer, unless that is much of the receiver's part of the array.
constexpr std::uint64_t group_bytes(std::uint64_t senders, std::uint64_t part_bytes) {
  constexpr std::uint64_t cached = std::uint64_t{1} << 20, least_slice = std::uint64_t{1} << 14;
  constexpr std::uint64_t least_groups = 32;
  return std::max(cached, std::min(least_slice * senders, part_bytes / least_groups));
}

/// Buffers that a rank needs at most, with slices of the default size, to exchange its part of an array.
constexpr std::uint64_t exchange_memory(std::uint64_t ranks, std::uint64_t part_bytes) {
  return std::max(received_slices * default_slice_bytes, buffered_groups * group_bytes(ranks, part_bytes));
}

}  // namespace xorder::plan
