// How one tile of a linear map is permuted, line by line. This is pure algebra: no data is touched.
//
// Let a line have 2^µ elements. The tile is a coset of E_s + A⁻¹E_t, with s and t ≥ µ. It consists of runs of
// 2^s source elements and segments of 2^t target elements. It is divided into *line tiles*, the cosets of E_µ
// + A⁻¹E_µ, which have 2^r lines on both sides. In a line tile, the element at position p of source line a (r
// bits) goes to position q of target line l. Everything is linear, so
//
//     l = G p + η a,     q = K p + κ a,     G of rank r:
//
// Each source line sends 2^(µ−r) elements to each target line. Choose r positions (bits of p) on which G is
// invertible, and number the target lines so that G is the identity there. Then
//
//   1. permute the bytes of each source line, so that l + η a is the upper part of an element's position and
//      the other bits of p are the lower part: it now has 2^r blocks, one for each target line;
//   2. transpose 2^r × 2^r blocks;
//   3. permute the bytes of each target line, so that (other bits of p, a) become q.
//
// Steps 1 and 3 are the same permutation for all lines, except for an exclusive or of the position that
// differs from line to line. If A permutes bits, they mostly vanish. Step 2 is the transposition that all
// machines do well. It writes into a buffer that holds the tile's lines in the order of line tiles. Step 3 is
// done on the way from there to the target.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/linear/tile_shape.hpp"
#include "kernel/vectors/lines.hpp"
#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

struct LineTiles {
  TileShape shape;   ///< s and t
  int lg_lines = 0;  ///< r
  /// Whether a tile is one run of the source and one of the target, whose lines can be read where they are.
  bool in_runs = false;

  // All offsets are in bytes. They are combined by exclusive or.
  std::vector<std::uint64_t> line_tiles;    ///< source offsets of the line tiles, within the tile
  std::vector<std::uint64_t> source_lines;  ///< of the lines, within a line tile
  std::vector<std::uint64_t> segments;      ///< target offsets of the segments
  std::vector<std::uint16_t> lines;         ///< for each line of each segment, its number in the buffer
  std::vector<std::uint64_t> target_lines;  ///< target offset of each line in the buffer
  LineOrder before;                         ///< step 1
  std::vector<std::uint8_t> before_flips;   ///< of each line of a line tile
  LineOrder after[2];                       ///< step 3; [1] if the tile has a flip
  std::vector<std::uint8_t> after_flips;    ///< of each line in the buffer
  /// The flip of a tile whose target begins at byte i of a line.
  std::uint8_t tile_flips[line_bytes] = {};
};

/// Requires a shape that is possible for the map and has whole lines, and elements of 2^lg_element ≤ 16
/// bytes.
LineTiles make_line_tiles(const gf2::BitMatrix& map, int lg_element, TileShape shape);

/// The source offsets of all lines of a tile, in ascending order.
std::vector<std::uint64_t> source_offsets(const LineTiles& tiles);

}  // namespace xorder::kernel
