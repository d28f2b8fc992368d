// What `xorder show` knows of a permutation, and the two ways in which it shows it. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "drawing/map_facts.hpp"
#include "factors.hpp"
#include "xorder/gf2/affine_map.hpp"

namespace xorder::cli {

using drawing::Passes;

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


}  // namespace xorder::cli
