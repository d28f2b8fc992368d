// What a pass costs: the one model behind every choice of a plan.
//
// A tile is written after all of it was read, so reading and writing overlap only from the second tile on:
//
//     reads   ├ tile 1 ┼ tile 2 ┼ tile 3 ┤
//     writes           ├ tile 1 ┼ tile 2 ┼ tile 3 ┤
//
// The first tile is read, and the last one is written, by a device that does nothing else; what lies between
// takes as long as the device needs for both at once. Memory costs too, where it is fresh. So more memory
// gains twice at first, by larger requests, and then loses twice, by fresh pages and by fewer tiles.
#pragma once

#include <cstdint>

#include "plan/conditions.hpp"

namespace xorder::plan {

/// What a pass asks of the machine.
struct Load {
  std::uint64_t bytes = 0;        ///< of data, read and written once
  std::uint64_t read_block = 1;   ///< bytes that are read at once
  std::uint64_t write_block = 1;  ///< bytes that are written at once
  std::uint64_t read_excess = 0;  ///< bytes that each read fetches beyond its block, and each write writes
  std::uint64_t write_excess = 0;
  std::uint64_t tiles = 1;
  std::uint64_t memory = 0;
};

/// The predicted time of the pass. Pure.
double pass_seconds(const Load& load, const Conditions& conditions);

}  // namespace xorder::plan
