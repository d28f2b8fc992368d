// How a band is transposed: by strips in the order `columns`, by shifts in the order `diagonals`, and many
// small matrices together. A band stored by row is planned as the same array by column (Band::by_columns()).
// A plan is plain data; it can be printed, and run any number of times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "plan/bands/band_shifts.hpp"
#include "plan/bands/band_stack.hpp"
#include "plan/bands/band_strips.hpp"

namespace xorder::plan {

using BandPlan = std::variant<BandStrips, BandShifts, BandStack>;

/// The plan for matrices of one band that lie one after the other in the file.
struct BandPart {
  std::uint64_t matrices = 1;
  BandPlan plan;
};

/// Plans matrices that lie one after the other in the file, each alone or many together. Pure. Requires
/// check() of each and element_bytes ≥ 1. Throws InputError if strips do not fit in the memory. (Shifts do
/// not throw; see BandShifts.)
std::vector<BandPart> plan_bands(std::span<const Band> bands, std::uint64_t element_bytes,
                                 const Setting& setting, const BandTiling& given = {});

PassSummary pass(const BandPlan& plan);
/// For people, line by line.
std::string describe(const BandPlan& plan);

}  // namespace xorder::plan
