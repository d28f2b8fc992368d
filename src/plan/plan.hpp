// How a reordering is going to be done: passes, tiles, block sizes, memory. A plan is plain data made by a
// pure function. It can be printed, compared, and run (tiles/tile_engine.hpp) any number of times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/setting.hpp"
#include "plan/tiles/buffers.hpp"
#include "plan/tiles/source_files.hpp"
#include "plan/tiles/tiling.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {

/// Reading one file once and writing another once, and the memory for it.
struct Pass : Buffers {
  Tiling tiling;
  std::shared_ptr<const SourceFiles> strided{};  ///< what it reads, if elements do not follow each other
  std::uint64_t source_block_bytes = 0;            ///< that lie together in the source
  std::uint64_t target_block_bytes = 0;            ///< that lie together in the target
  std::uint64_t tile_bytes = 0;                    ///< of data
  double seconds = 0;                              ///< predicted

  std::uint64_t bytes_read() const;
};

struct Plan {
  Reordering what;
  Setting setting;
  std::vector<Pass> passes;

  std::uint64_t bytes_read() const;
  std::uint64_t bytes_written() const { return passes.size() * what.bytes(); }
  /// Disk for the data between passes.
  std::uint64_t scratch_bytes() const;
  std::uint64_t peak_memory() const;
  /// Predicted, with the time to remove the scratch files.
  double seconds() const;
  /// For people: what will be done, line by line.
  std::string describe() const;
  /// The same for a part of a run, which has the scratch files.
  std::string describe_part() const;

 private:
  std::string describe_passes() const;
};

/// The cheapest plan for the device that keeps within the memory: Pass::memory() ≤ setting.memory. Block
/// sizes and the number of passes are chosen together; a map takes exactly pass_count() passes for the block
/// size chosen. If several processes share the tiles, the plan is the one whose longest share takes the least
/// time. The scratch files fit in setting.scratch_room, unless there is no such plan. Throws InputError if
/// the memory is below least_plan_memory, if no tile fits in it, and as canonical() does. Pure; takes some
/// milliseconds.
Plan make_plan(const Reordering& what, const Setting& setting);

}  // namespace xorder::plan
