// Divides a linear group into micro-tiles and orders them. This is pure algebra: no data is touched.
//
// A cache line has 2^µ elements. It is a coset of E_µ = span(e_0 .. e_{µ−1}). The elements that end up in one
// target line are a coset of L⁻¹E_µ. So a coset of S = E_µ + L⁻¹E_µ, a *micro-tile*, consists of whole source
// lines and of whole target lines. If the two spaces have only 0 in common, the tile is a square: its
// elements are x = u + L⁻¹t, u and t ∈ E_µ, and
//
//   source line t is the one of L⁻¹t, and has element u at position  u ^ low(L⁻¹t),
//   target line u is the one of L u,  and has element t at position  t ^ low(L u),
//
// This is a transposition of 2^µ × 2^µ elements, with lines scrambled by an xor. The xor vanishes if L
// permutes bits. If the spaces have more in common, the tile is smaller, and a table gives the place of each
// element.
//
// Writing past the cache is slow if each line is in another page. So a few tiles make a *panel*, a coset of
// E_µ + L⁻¹E_σ. It consists of whole target *segments* of 2^σ elements, which are gathered in a buffer. The
// walk goes through a panel's tiles one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

struct MicroTiles {
  /// The change (by xor) of the source and target coordinates and of the segment's number within the panel.
  struct Step {
    gf2::Word source;
    gf2::Word target;
    gf2::Word segment = 0;
  };
  /// The places of an element of a tile, each as line · 2^(bits of a line) + position.
  struct Entry {
    std::uint16_t source;
    std::uint16_t target;
  };

  /// lg of the number of elements in a source line and in a target line.
  int source_bits = 0;
  int target_bits = 0;
  /// One coordinate in each line of the tile that contains 0: L⁻¹t and L u in a square tile, otherwise the
  /// first coordinate of each line.
  std::vector<gf2::Word> source_lines;
  std::vector<gf2::Word> target_lines;
  /// The walk over the tiles, in counting order. Step i leads to the tiles number 2^i, 3·2^i, 5·2^i ... from
  /// the ones before. It is the sum of the first i + 1 vectors of a basis of the rest, innermost first, all
  /// of which begin a source line. Counting order costs the same two xors as a Gray code, but goes upwards
  /// through memory.
  std::vector<Step> steps;

  bool square = false;
  /// A square tile in which no positions are scrambled, except target positions by the offset's low bits.
  bool plain = false;
  /// For a tile that is not square: its elements, sorted by target.
  std::vector<Entry> table;
  /// The tile's elements fill all its target lines. Panels exist only then.
  bool whole_lines = false;

  /// σ; the number of steps that stay within a panel (they come first); one coordinate in each segment; and
  /// the segment of each target line of the tile.
  int segment_bits = 0;
  int panel_steps = 0;
  std::vector<gf2::Word> segments;
  std::vector<gf2::Word> segment_of_line;
};

/// The largest panel. It takes most of a first-level cache.
constexpr std::uint64_t panel_bytes = 32768;

/// `line_bits` is µ. It is reduced if runs are shorter: a run has 2^source_low or 2^target_low elements.
/// `element_bytes` gives the number of elements in a page. Kernels for square tiles exist for 1, 2, 4, 8 and
/// 16 bytes; all other tiles get a table.
MicroTiles make_micro_tiles(const gf2::BitMatrix& map, int source_low, int target_low, int line_bits,
                            std::uint64_t element_bytes);

}  // namespace xorder::kernel
