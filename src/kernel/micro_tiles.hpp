// How a linear group falls into micro-tiles, and in which order they are done. Pure algebra, no memory is
// touched.
//
// Let a line be what memory moves at once: 2^µ elements, a coset of E_µ = span(e_0 .. e_{µ−1}). The elements
// that end up in one target line are a coset of L⁻¹E_µ. So a coset of S = E_µ + L⁻¹E_µ, a *micro-tile*,
// consists of whole source lines and of whole target lines. Where the two spaces have only 0 in common, it is
// a square: its elements are x = u + L⁻¹t, u and t ∈ E_µ, and
//
//   source line t is the one of L⁻¹t, and has element u at position  u ^ low(L⁻¹t),
//   target line u is the one of L u,  and has element t at position  t ^ low(L u),
//
// a transposition of 2^µ × 2^µ elements with lines that are scrambled by an xor, which vanishes where L is a
// permutation of bits. Otherwise the tile is smaller, and a table says what goes where.
//
// Single lines, each in another page, are no good way to write past the cache. So a few tiles make a *panel*,
// a coset of E_µ + L⁻¹E_σ: it consists of whole target *segments* of 2^σ elements, which are put together in
// a buffer. The walk does a panel's tiles one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

struct MicroTiles {
  /// What changes in source and target coordinates, and in the number of the segment within the panel.
  struct Step {
    gf2::Word source;
    gf2::Word target;
    gf2::Word segment = 0;
  };
  /// Where an element of a tile is: line · 2^(bits of a line) + position.
  struct Entry {
    std::uint16_t source;
    std::uint16_t target;
  };

  /// lg of the number of elements in a source line and in a target line.
  int source_bits = 0;
  int target_bits = 0;
  /// A coordinate in each line of the tile that contains 0. In a square tile these are L⁻¹t and L u;
  /// otherwise they are the first ones of each line.
  std::vector<gf2::Word> source_lines;
  std::vector<gf2::Word> target_lines;
  /// The walk over the tiles: step i leads to tile number 2^i, 3·2^i, 5·2^i ... from the one before. It is
  /// the sum of the first i + 1 vectors of a basis of the rest, innermost first, all of which begin a source
  /// line: the tiles are done in counting order, which costs the same two xors as a Gray code and goes
  /// through memory upwards.
  std::vector<Step> steps;

  bool square = false;
  /// No position in a square tile is scrambled; that of the target still by the offset's low bits.
  bool plain = false;
  /// The elements of a tile that is not square, by target.
  std::vector<Entry> table;
  /// The tile's elements fill all its target lines. Only then there are panels.
  bool whole_lines = false;

  /// σ; the number of steps that stay in the panel, which are the first ones; a coordinate in each of the
  /// segments; and the segment of each of the tile's target lines.
  int segment_bits = 0;
  int panel_steps = 0;
  std::vector<gf2::Word> segments;
  std::vector<gf2::Word> segment_of_line;
};

/// Panels are at most this large. It is most of a first-level cache.
constexpr std::uint64_t panel_bytes = 32768;

/// `line_bits` is µ; it is cut where runs are shorter: a run has 2^source_low and 2^target_low elements.
/// `element_bytes` says how many elements a page has and whether there are kernels for square tiles of them:
/// for 1, 2, 4, 8 and 16 bytes. All other tiles get a table.
MicroTiles make_micro_tiles(const gf2::BitMatrix& map, int source_low, int target_low, int line_bits,
                            std::uint64_t element_bytes);

}  // namespace xorder::kernel
