// What a pass costs: the one model behind every choice of a plan.
//
// A tile is written after all of it was read, so reading and writing overlap only from the second tile on:
//
//     reads   ├ tile 1 ┼ tile 2 ┼ tile 3 ┤
//     writes           ├ tile 1 ┼ tile 2 ┼ tile 3 ┤
//
// While the first tile is read, and while the last one is written, the device does nothing else, and each
// takes at least the time of its copies. The time between is what the device needs for reads and writes at
// once. Fresh memory costs time too. So more memory gains at first, on both sides, by larger requests. Later
// it loses, by fresh pages and by fewer tiles.
#pragma once

#include <cstdint>

#include "plan/conditions.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

/// What a pass asks of the machine.
struct Load {
  std::uint64_t bytes = 0;         ///< of data, read and written once
  std::uint64_t read_block = 1;    ///< bytes that are read at once
  std::uint64_t write_block = 1;   ///< bytes that are written at once
  std::uint64_t read_excess = 0;   ///< bytes that each read fetches beyond its block
  std::uint64_t write_excess = 0;  ///< bytes that each write writes beyond its block
  std::uint64_t tiles = 1;
  std::uint64_t memory = 0;
};

/// The predicted time of the pass. Pure.
double pass_seconds(const Load& load, const Conditions& conditions);

/// The predicted time until `memory` bytes, of which `touched` have been used before, are there. Pure.
double touching_seconds(std::uint64_t memory, std::uint64_t touched, const Host& host);

/// Scratch files for the data between passes. Two are enough: each pass reads one and writes the other.
std::uint64_t scratch_files(std::size_t passes);
/// The predicted time to remove scratch files of this size, at the end of a run. Pure.
double scratch_seconds(std::uint64_t bytes, const Host& host);

/// `pass` with the time that it takes to read and write its bytes one after the other, in requests of its
/// block sizes but at most `largest` bytes. For the engines whose passes have no tiles to overlap.
PassSummary timed(PassSummary pass, const Device& device, std::uint64_t largest);

/// The same for the engines that read a part of the data while they write the one before: with the time of
/// pass_seconds(), so that it says how many parts are best.
PassSummary overlapped(PassSummary pass, const Device& device, const Host& host, std::uint64_t largest);

}  // namespace xorder::plan
