// What a pass costs: the one model behind every choice of a plan. An engine says what its passes ask of the
// machine (Load), and the setting says what the machine can do.
//
// A tile is written after all of it was read, so reading and writing overlap only from the second tile on:
//
//     reads   ├ tile 1 ┼ tile 2 ┼ tile 3 ┤
//     writes           ├ tile 1 ┼ tile 2 ┼ tile 3 ┤
//
// While the first tile is read, and while the last one is written, the device does nothing else, and each
// takes at least the time of its copies. The time between is what the device needs for reads and writes at
// once. If ranks exchange a tile between its read and its write, the device does other tiles meanwhile. Fresh
// memory costs time too. So more memory gains at first, on both sides, by larger requests. Later it loses, by
// fresh pages and by fewer tiles.
#pragma once

#include <cstdint>
#include <limits>

#include "plan/setting.hpp"
#include "xorder/plan/device.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

/// What a pass asks of the machine.
struct Load {
  Requests reads, writes;  ///< of the whole pass
  /// Blocks that are read and written besides, because requests do not begin or end with them.
  Requests edge_reads{}, edge_writes{};
  std::uint64_t copied = 0;  ///< bytes that are copied twice in memory, beside the transfers
  std::uint64_t tiles = 1;   ///< parts, each of which is written after all of it was read
  std::uint64_t memory = 0;
  double exchange = 0;  ///< seconds that all tiles take between their reads and their writes
};

/// The predicted time of the pass. Pure.
double price(const Load& load, const Setting& setting);

/// `pass` with its price: its bytes are read and written in requests of its block sizes, but at most
/// `largest` bytes, and it touches at most so much of its memory.
PassSummary priced(PassSummary pass, const Setting& setting, std::uint64_t largest,
                   std::uint64_t most_touched = std::numeric_limits<std::uint64_t>::max());

/// The predicted time until `memory` bytes, of which `touched` have been used before, are there. Pure.
double touching_seconds(std::uint64_t memory, std::uint64_t touched, const Setting& setting);

/// Scratch files for the data between passes. Two are enough: each pass reads one and writes the other.
std::uint64_t scratch_files(std::size_t passes);
/// The predicted time to remove scratch files of this size, at the end of a run. Pure.
double scratch_seconds(std::uint64_t bytes, const Host& host);

}  // namespace xorder::plan
