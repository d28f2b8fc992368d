// What the engines for BMMC permutations have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "kernel/linear/line_mover.hpp"
#include "kernel/linear/tile_walk.hpp"
#include "memory/engine.hpp"
#include "memory/mapped.hpp"
#include "rounding.hpp"

namespace xorder::memory {

using kernel::TileWalk;

/// The tasks of a map that is performed tile by tile. A task is a stretch of tiles of one map, or all tiles
/// of several repetitions of a small map.
class BmmcTasks {
 public:
  BmmcTasks(Mapped mapped, kernel::TileShape shape)
      : mapped_(std::move(mapped)),
        walk_(mapped_.map.matrix, mapped_.map.complement, shape, mapped_.element_bytes) {
    const std::uint64_t tile = mapped_.element_bytes << walk_.tile_bits();
    tiles_per_task_ = std::min(walk_.tiles(), std::max<std::uint64_t>(1, std::bit_floor(task_bytes / tile)));
    tasks_per_map_ = walk_.tiles() / tiles_per_task_;
    maps_per_task_ = std::max<std::uint64_t>(1, task_bytes / (tile * tiles_per_task_));
  }

 protected:
  std::uint64_t count_tasks() const {
    return tasks_per_map_ > 1 ? mapped_.outer_count * tasks_per_map_
                              : ceil_div(mapped_.outer_count, maps_per_task_);
  }

  // Calls body(place, count, source, target) with the first of each stretch of `count` tiles of tasks [first,
  // last).
  template <class Body>
  void for_each_map(std::uint64_t first, std::uint64_t last, const std::byte* source, std::byte* target,
                    const Body& body) const {
    if (tasks_per_map_ > 1) {
      while (first < last) {
        const std::uint64_t outer = first / tasks_per_map_,
                            end = std::min(last, (outer + 1) * tasks_per_map_);
        body(walk_.at(first % tasks_per_map_ * tiles_per_task_), (end - first) * tiles_per_task_,
             source + *Offsets(mapped_.outer, outer), target + outer * mapped_.bytes());
        first = end;
      }
      return;
    }
    const std::uint64_t end = std::min(mapped_.outer_count, last * maps_per_task_);
    std::uint64_t outer = first * maps_per_task_;
    const TileWalk::Place start = walk_.at(0);
    for (Offsets offsets(mapped_.outer, outer); outer < end; ++outer, ++offsets) {
      body(start, tiles_per_task_, source + *offsets, target + outer * mapped_.bytes());
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

/// An engine that moves lines.
class BmmcLines : public BmmcEngine {
 public:
  std::string describe() const override {
    const kernel::LineTiles& tiles = mover_.tiles();
    const auto permuted = [](const kernel::LineOrder& order, std::string_view when) {
      return order.kind == kernel::LinePermutation::none ? std::string_view() : when;
    };
    return fmt::format(
        "map of {} bits, elements of {} bytes; tiles of {} segments of {} bytes, {} lines across{}{}{}{}",
        mapped_.map.bits(), mapped_.element_bytes, tiles.segments.size(), mover_.segment_bytes(),
        1 << tiles.lg_lines, permuted(tiles.before, ", permuted before"),
        permuted(tiles.after[0], ", permuted after"), how_, streamed_ ? ", streamed" : "");
  }

 protected:
  /// `how` is for describe().
  BmmcLines(Mapped mapped, kernel::LineTiles tiles, bool streamed, std::string_view how)
      : BmmcEngine(std::move(mapped), tiles.shape),
        mover_(std::move(tiles), mapped_.element_bytes, streamed, kernel::Fetching::while_writing),
        lg_element_(std::countr_zero(mapped_.element_bytes)),
        how_(how),
        streamed_(streamed) {}

  /// Offsets are in bytes. After the last tile of a map, that one is ahead again.
  struct Tile {
    const std::byte* from;  ///< the map's source
    std::byte* to;
    std::uint64_t here, ahead;  ///< this tile and the next one in the source
    std::uint64_t there;        ///< this tile in the target
  };
  // Calls move(tile) for each tile of tasks [first, last).
  template <class Move>
  void for_each_tile(std::uint64_t first, std::uint64_t last, const std::byte* source, std::byte* target,
                     const Move& move) const {
    for_each_map(first, last, source, target,
                 [&](TileWalk::Place place, std::uint64_t count, const std::byte* from, std::byte* to) {
                   TileWalk::Place next = place;
                   for (std::uint64_t i = 0; i < count; ++i, place = next) {
                     walk_.advance(next);
                     move({from, to, place.source << lg_element_, next.source << lg_element_,
                           place.target << lg_element_});
                   }
                 });
  }

  kernel::LineMover mover_;
  int lg_element_;
  std::string_view how_;
  bool streamed_;
};

}  // namespace xorder::memory
