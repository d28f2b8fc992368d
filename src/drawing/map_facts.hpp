// What is shown of a map beside its drawing: its matrix, its inverse and its cost.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::drawing {

/// The passes of a map with blocks of 2^lg_block elements in memory for 2^lg_memory elements.
struct Passes {
  int lg_block = 0;
  int lg_memory = 0;
  /// In the order in which they are performed, one for each pass.
  std::vector<gf2::AffineMap> factors;
  /// The least memory for one pass is 2^(lg_block + rank γ). passes_below[i] is the number of passes with
  /// 2^(i+1) times less. The list ends with the least memory that is larger than a block.
  std::vector<int> passes_below;
};

/// Both are numbers of elements; without memory it is enough for one pass. Throws InputError unless they are
/// powers of two, at most 2^n, and blocks that are split are smaller than memory. `option` begins the names
/// that it gives them: "--" of a command.
Passes passes_of(const gf2::AffineMap& map, std::uint64_t block, std::optional<std::uint64_t> memory,
                 const std::string& option);

/// The lg of a number of elements, which is a power of two, at most 2^n. Throws InputError.
int lg_of_elements(std::uint64_t elements, const std::string& name, int n);

/// As docs/json.md has it: bits, columns, complement, inverse, rank_gamma, and of the passes block, memory,
/// passes and factors.
nlohmann::ordered_json map_json(const gf2::AffineMap& map, const std::optional<Passes>& passes);

}  // namespace xorder::drawing
