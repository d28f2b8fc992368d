// The memory of one pass: a pool of chunks for tiles, slots for groups that are being read and for requests
// that are being written, and carried blocks, which wait for their other part.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/setting.hpp"
#include "plan/tiles/chunks.hpp"
#include "plan/tiles/geometry.hpp"

namespace xorder::plan {

/// Of a pass.
inline constexpr std::uint64_t most_group_slots = 16;

struct Buffers {
  std::uint64_t element_bytes = 1;
  /// For tiles: a pool of chunks, at least a quarter more than one tile's if there are several.
  ChunkShape chunk{};
  std::uint64_t chunk_count = 0;
  /// How many tiles may be in progress at once.
  std::uint64_t tile_slots = 0;
  /// For groups that are being read: slots of group_runs × group_pitch bytes. A pitch leaves room for the
  /// superset that an unaligned read fetches. If the source is strided, unpacked_bytes at its end are for the
  /// run itself, which is unpacked from at most run_spans spans in front of them.
  std::uint64_t group_runs = 0;
  std::uint64_t group_pitch = 0;
  std::uint64_t group_slots = 0;
  std::uint64_t unpacked_bytes = 0, run_spans = 0;
  /// For what is being written: a slot is one request, with room for the blocks at both of its ends.
  std::uint64_t write_slot_bytes = 0;
  std::uint64_t write_slots = 0;
  /// Blocks that wait for their other part, about. There is always room for 64 of them, see io/carry.hpp.
  std::uint64_t carry_bytes = 0;
  /// Bytes of the lists of runs and chunks, beyond 8 MiB, which the program itself has room for.
  std::uint64_t lists = 0;

  std::uint64_t chunk_bytes() const { return chunk.elements * element_bytes; }
  std::uint64_t group_slot_bytes() const { return group_runs * group_pitch; }
  /// All but the chunks and the lists.
  std::uint64_t windows() const {
    return group_slots * group_slot_bytes() + write_slots * write_slot_bytes + carry_bytes;
  }
  std::uint64_t memory() const { return windows() + chunk_count * chunk_bytes() + lists; }
};

/// The buffers that keep tiles flowing, and no more. memory() ≤ setting.memory; nothing if that is too
/// little.
std::optional<Buffers> buffers(const Reordering& what, const Setting& setting, const Geometry& geometry);

}  // namespace xorder::plan
