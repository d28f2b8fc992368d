// How a reordering is going to be done: passes, tiles, block sizes, memory. A plan is plain data made by a pure
// function; it can be printed, compared and run (tiles/tile_engine.hpp) as often as one likes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/chunks.hpp"
#include "plan/tiling.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/plan/device.hpp"

namespace xorder::plan {

/// The least memory that make_plan accepts.
inline constexpr std::uint64_t minimum_memory = std::uint64_t{8} << 20;
struct Conditions {
  /// Bytes for everything: tiles, windows of requests, carried blocks.
  std::uint64_t memory = std::uint64_t{512} << 20;
  Device device = Device::ssd();
  /// Where the data begins in the files, and the multiples in which the engine reads and writes them (1: any),
  /// in the files as in memory.
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t read_alignment = 1;
  std::uint64_t write_alignment = 1;
  /// About what a group should have: fits the shared cache a few times over, and gives a tile's runs pieces of some cache lines.
  std::uint64_t group_bytes = std::uint64_t{4} << 20;
  /// About what a chunk should have: small, so that little of a tile's memory waits to be filled.
  std::uint64_t chunk_bytes = 4096;
};

/// Requests are no larger than this; longer runs are moved by several, one after the other.
inline constexpr std::uint64_t largest_request = std::uint64_t{1} << 20;

/// One reading of a file and one writing of another.
struct Pass {
  Tiling tiling;
  std::uint64_t source_block_bytes = 0;  ///< of a run that is read at once
  std::uint64_t target_block_bytes = 0;  ///< of a run that is written at once
  std::uint64_t tile_bytes = 0;          ///< of data
  /// Memory for tiles: a pool of chunks, a little more than one tile's.
  ChunkShape chunk{};
  std::uint64_t chunk_count = 0;
  /// How many tiles may be under way at once.
  std::uint64_t tile_slots = 0;
  /// Memory for groups that are being read: slots of run_count × pitch bytes. A pitch leaves room for the superset that an
  /// unaligned read fetches.
  std::uint64_t group_pitch = 0;
  std::uint64_t group_slots = 0;
  /// Memory for what is being written: a slot is one request, with room for the blocks at both of its ends.
  std::uint64_t write_slot_bytes = 0;
  std::uint64_t write_slots = 0;
  /// Blocks that wait for their other part, at most.
  std::uint64_t carry_bytes = 0;
  double seconds = 0;  ///< predicted

  std::uint64_t chunk_bytes() const { return chunk.elements * tiling.what().element_bytes; }
  std::uint64_t group_slot_bytes() const { return tiling.source_shape().run_count * group_pitch; }
  std::uint64_t memory() const {
    return chunk_count * chunk_bytes() + group_slots * group_slot_bytes() + write_slots * write_slot_bytes +
           carry_bytes;
  }
};

struct Plan {
  Reordering what;
  Conditions conditions;
  std::vector<Pass> passes;

  std::uint64_t bytes_read() const { return passes.size() * what.bytes(); }
  std::uint64_t bytes_written() const { return passes.size() * what.bytes(); }
  /// Scratch disk of the passes between the first and the last.
  std::uint64_t scratch_bytes() const;
  std::uint64_t peak_memory() const;
  double seconds() const;
  /// For people: what will be done, line by line.
  std::string describe() const;
};

/// The cheapest plan for the device that keeps within the memory: Pass::memory() ≤ conditions.memory. Block sizes and the number of passes are chosen together; a map takes
/// exactly pass_count() passes for the block size chosen. Throws InputError if the memory is below minimum_memory or no
/// tile fits in it. Pure; takes some milliseconds.
Plan make_plan(const Reordering& what, const Conditions& conditions);

}  // namespace xorder::plan
