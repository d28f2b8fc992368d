// How the transposition of a band in the order `diagonals` is cut: record k of the source becomes record B −
// 1 − k of the target, shifted by k − KU. So a range of the target, of any length, consists of a few ranges
// of the source, or of zeros where a shift leaves the matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "xorder/permutation/band.hpp"

namespace xorder::plan {

/// Bytes that keep together. Places are in bytes from the beginning of the data.
struct BandCopy {
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t bytes = 0;
  bool operator==(const BandCopy&) const = default;
};

/// A range of the source and what is to be copied from it.
struct BandRange {
  std::uint64_t begin = 0, end = 0;
  std::vector<BandCopy> copies;
};

/// What the bytes [begin, end) of the target consist of; what is not copied there is zero. Ranges are
/// ascending; those that are at most `gap` bytes apart are one, if it is not longer than `longest`. Requires
/// check(band) and the order `diagonals`. Costs about as many steps as there are records in the range.
std::vector<BandRange> band_shifts(const Band& band, std::uint64_t element_bytes, std::uint64_t begin,
                                   std::uint64_t end, std::uint64_t gap, std::uint64_t longest);

}  // namespace xorder::plan
