// How a band is transposed: by strips in the order `columns`, by shifts in the order `diagonals`, many small
// ones together; and so by row, where the same happens to the file (Band::by_columns()). Plain data, which can
// be printed and run as often as one likes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "plan/band_shifts.hpp"
#include "plan/band_stack.hpp"
#include "plan/band_strips.hpp"

namespace xorder::plan {

using BandPlan = std::variant<BandStrips, BandShifts, BandStack>;

/// The plan of so many matrices of one band, one after the other in the file.
struct BandPart {
  std::uint64_t matrices = 1;
  BandPlan plan;
};

/// Of matrices that lie one after the other, for each or for many of them together. Pure. Requires check() of each and
/// element_bytes ≥ 1. Throws InputError if the memory does not suffice.
std::vector<BandPart> plan_bands(std::span<const Band> bands, std::uint64_t element_bytes,
                                 const BandConditions& conditions, const BandTiling& given = {});

PassSummary pass(const BandPlan& plan);
/// For people, line by line.
std::string describe(const BandPlan& plan);

}  // namespace xorder::plan
