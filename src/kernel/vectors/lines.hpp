// Permutes the bytes of cache lines, and transposes blocks of several lines. Compiled for each kind of
// processor by Highway.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {

/// How the bytes of a line are permuted: not at all; only by the line's flip; within 16-byte pieces and then
/// the four pieces; or freely.
enum class LinePermutation { none, flips, by_piece, free };

/// Permutations of the bytes of many lines: byte j comes from byte order[j] ^ flip. All lines share `order`;
/// each has its own flip.
struct LineOrder {
  LinePermutation kind = LinePermutation::none;
  bool by_word = false;  ///< whether words of 4 bytes stay whole, and begin at multiples of 4
  alignas(line_bytes) std::uint8_t order[line_bytes] = {};
};

/// Transposes 64/B lines of 64/B blocks of B bytes: block β of line a, after its bytes were permuted by
/// `before` with flips[a], becomes block a of line β of the buffer (aligned to a line).
using LineTileFunction = void (*)(const std::byte* const* lines, const LineOrder& before,
                                  const std::uint8_t* flips, std::byte* buffer);
/// lg_lines = lg(64/B), 0 to 6.
LineTileFunction line_tile_function(int lg_lines);

/// Moves the line tiles of a whole tile from the source to the target, and permutes each line afterwards. All
/// offsets are in bytes and are combined by exclusive or.
struct TileMove {
  const std::byte* source;
  std::uint64_t source_tile;
  const std::uint64_t* line_tiles;    ///< count of them
  const std::uint64_t* source_lines;  ///< of a line tile, 64/B of them
  std::byte* target;
  std::uint64_t target_tile;
  const std::uint64_t* target_lines;  ///< of one line tile after the other
  std::size_t count;
  const LineOrder& before;
  const std::uint8_t* before_flips;  ///< of the lines of a line tile
  const LineOrder& after;
  const std::uint8_t* after_flips;  ///< of target_lines
  std::uint8_t flip;                ///< of all of these
  std::uint64_t next_tile;          ///< of the source
  bool share_sets;                  ///< whether the lines of a line tile all belong in the same sets
};
using TileMoveFunction = void (*)(const TileMove& move);
/// `streamed` means to write past the cache, which requires a target that begins at a line, and to prefetch
/// the next tile meanwhile.
TileMoveFunction tile_move_function(int lg_lines, bool streamed);

/// Whether one instruction stores a line.
bool lines_in_one_store();

/// Target lines to be gathered from a buffer.
struct Segment {
  std::byte* target;               ///< aligned to a line if the lines are streamed
  const std::byte* buffer;         ///< or any memory with the lines
  const std::uint16_t* lines;      ///< target line i is line lines[i ^ line_flip] of the buffer
  const std::uint8_t* line_flips;  ///< of each line of the buffer; unused if the order is `none`
  std::size_t count;
  std::size_t line_flip;
  std::uint8_t flip;  ///< of all lines
};
using SegmentFunction = void (*)(const Segment& segment, const LineOrder& after);
/// `streamed` means to write past the cache.
SegmentFunction segment_function(bool streamed);

}  // namespace xorder::kernel
