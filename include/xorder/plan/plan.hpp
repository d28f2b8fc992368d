// How a reordering is going to be done: passes, tiles, block sizes, memory. A plan is plain data made by a pure
// function; it can be printed, compared and run (run/run.hpp) as often as one likes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xorder/permutation/reordering.hpp"
#include "xorder/plan/device.hpp"
#include "xorder/plan/tiling.hpp"

namespace xorder::plan {

/// The least memory that make_plan accepts.
inline constexpr std::uint64_t minimum_memory = std::uint64_t{16} << 20;
/// What may come on top of the memory given, for windows of requests in flight.
inline constexpr std::uint64_t window_allowance = std::uint64_t{24} << 20;

struct Conditions {
  /// Bytes for tiles and carried blocks.
  std::uint64_t memory = std::uint64_t{512} << 20;
  Device device = Device::ssd();
  /// Where the data begins in the files, and the multiples in which the engine reads and writes them (1: any).
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t read_alignment = 1;
  std::uint64_t write_alignment = 1;
  /// Addresses of transfers are congruent to their places in the file modulo this.
  std::uint64_t memory_alignment = 1;
};

/// One reading of a file and one writing of another.
struct Pass {
  Tiling tiling;
  std::uint64_t source_block_bytes = 0;  ///< of a run that is read at once
  std::uint64_t target_block_bytes = 0;  ///< of a run that is written at once
  std::uint64_t tile_bytes = 0;          ///< of data
  /// Memory: slots of run_count × pitch bytes. A pitch leaves room for the superset that an unaligned read fetches, and
  /// for placing a run at an address that is aligned like its place in the file.
  std::uint64_t group_pitch = 0;
  std::uint64_t tile_pitch = 0;
  std::uint64_t group_slots = 0;
  std::uint64_t tile_slots = 0;
  std::uint64_t carry_bytes = 0;         ///< blocks that wait for their other part, at most
  double seconds = 0;                    ///< predicted

  std::uint64_t group_slot_bytes() const { return tiling.source_shape().run_count * group_pitch; }
  std::uint64_t tile_slot_bytes() const { return tiling.target_shape().run_count * tile_pitch; }
  std::uint64_t memory() const {
    return group_slots * group_slot_bytes() + tile_slots * tile_slot_bytes() + carry_bytes;
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

/// The cheapest plan for the device that keeps within the memory: Pass::memory() ≤ conditions.memory + window_allowance,
/// tiles and carried blocks ≤ conditions.memory. Block sizes and the number of passes are chosen together; a map takes
/// exactly pass_count() passes for the block size chosen. Throws InputError if the memory is below minimum_memory or no
/// tile fits in it. Pure; takes some milliseconds.
Plan make_plan(const Reordering& what, const Conditions& conditions);

}  // namespace xorder::plan
