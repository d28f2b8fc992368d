// What the engines for BMMC permutations have in common.
#pragma once

#include <algorithm>
#include <bit>

#include "kernel/line_tiles.hpp"
#include "kernel/tile_walk.hpp"
#include "memory/engine.hpp"
#include "memory/mapped.hpp"
#include "rounding.hpp"

namespace xorder::memory {

using kernel::TileWalk;

/// The tasks of a map that is performed tile by tile. A task is a stretch of tiles of one map, or all tiles
/// of several repetitions of a small map.
class BmmcTasks {
 public:
  static constexpr std::uint64_t task_bytes = 256 * 1024;

  BmmcTasks(Mapped mapped, TileShape shape)
      : mapped_(std::move(mapped)),
        walk_(mapped_.map.matrix, mapped_.map.complement, shape, mapped_.element_bytes) {
    const std::uint64_t tile = mapped_.element_bytes << walk_.tile_bits();
    tiles_per_task_ = std::min(walk_.tiles(), std::max<std::uint64_t>(1, std::bit_floor(task_bytes / tile)));
    tasks_per_map_ = walk_.tiles() / tiles_per_task_;
    maps_per_task_ = std::max<std::uint64_t>(1, task_bytes / (tile * tiles_per_task_));
  }

 protected:
  /// Requires elements of 1 to 16 bytes and a map of at least a line.
  kernel::LineTiles line_tiles(TileShape shape) const {
    return kernel::make_line_tiles(mapped_.map.matrix, std::countr_zero(mapped_.element_bytes), shape);
  }

  std::uint64_t count_tasks() const {
    return tasks_per_map_ > 1 ? mapped_.outer_count * tasks_per_map_
                              : ceil_div(mapped_.outer_count, maps_per_task_);
  }

  // Calls body(place, source, target) with the first tile of each stretch of tiles of tasks [first, last).
  template <class Body>
  void for_each_map(std::uint64_t first, std::uint64_t last, const std::byte* source, std::byte* target,
                    const Body& body) const {
    if (tasks_per_map_ > 1) {
      for (; first < last; ++first) {
        const std::uint64_t outer = first / tasks_per_map_;
        body(walk_.at(first % tasks_per_map_ * tiles_per_task_), source + *Offsets(mapped_.outer, outer),
             target + outer * mapped_.bytes());
      }
      return;
    }
    const std::uint64_t end = std::min(mapped_.outer_count, last * maps_per_task_);
    std::uint64_t outer = first * maps_per_task_;
    const TileWalk::Place start = walk_.at(0);
    for (Offsets offsets(mapped_.outer, outer); outer < end; ++outer, ++offsets) {
      body(start, source + *offsets, target + outer * mapped_.bytes());
    }
  }

  Mapped mapped_;
  TileWalk walk_;
  std::uint64_t tiles_per_task_, tasks_per_map_, maps_per_task_;
};

class BmmcEngine : public Engine, protected BmmcTasks {
 public:
  using BmmcTasks::BmmcTasks;
  std::uint64_t tasks() const override { return count_tasks(); }
};

}  // namespace xorder::memory
