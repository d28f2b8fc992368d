// How a band is transposed: by strips in the order `columns`, by shifts in the order `diagonals`; and so by
// row, where the same happens to the file (Band::by_columns()). Plain data, which can be printed and run as
// often as one likes.
#pragma once

#include <string>
#include <variant>

#include "plan/band_shifts.hpp"
#include "plan/band_strips.hpp"

namespace xorder::plan {

using BandPlan = std::variant<BandStrips, BandShifts>;

/// Pure. Requires check(band) and element_bytes ≥ 1. Throws InputError if the memory does not suffice.
BandPlan plan_band(const Band& band, std::uint64_t element_bytes, const BandConditions& conditions,
                   const BandTiling& given = {});

PassSummary pass(const BandPlan& plan);
/// For people, line by line.
std::string describe(const BandPlan& plan);

}  // namespace xorder::plan
