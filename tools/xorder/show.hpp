// What `xorder show` knows of a permutation, and the two ways in which it shows it. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "factors.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::cli {

/// The passes of a permutation with blocks of 2^lg_block elements in memory for 2^lg_memory elements.
struct Passes {
  int lg_block = 0;
  int lg_memory = 0;
  /// In the order in which they are performed, one for each pass.
  std::vector<gf2::AffineMap> factors;
  /// The least memory for one pass is 2^(lg_block + rank γ). passes_below[i] is the number of passes with
  /// 2^(i+1) times less. The list ends with the least memory that is larger than a block.
  std::vector<int> passes_below;
};

/// The rounds of a permutation on `processors` processors, whose number is bits f .. of an index.
struct ProcessorRounds {
  std::uint64_t processors = 1;
  int f = 0;
  std::uint64_t rounds = 1;
  Factors factors;
};

struct Shown {
  /// The expression, or the matrix file's name.
  std::string title;
  gf2::AffineMap map;
  gf2::AffineMap inverse;
  /// By lg block, 0 .. n.
  std::vector<int> rank_gamma;
  std::optional<Passes> passes;
  std::optional<ProcessorRounds> rounds;

  int bits() const { return map.bits(); }
};

/// Tables for a terminal, at most 132 columns wide.
std::string show_as_text(const Shown& shown);

/// One SVG drawing: the matrix with its γ block, and rank γ against the block size.
std::string show_as_svg(const Shown& shown);

}  // namespace xorder::cli
