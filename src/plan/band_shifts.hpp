// How the transposition of a band in the order `diagonals` is cut: record k of the source becomes record B −
// 1 − k of the target, shifted by k − KU. So a range of the target, of any length, consists of a few ranges
// of the source, or of zeros where a shift leaves the matrix. The target is made *part* by part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/band_conditions.hpp"
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

class BandShifts {
 public:
  /// Chooses as many and as large parts in flight as are of use and memory permits. Requires check(band), the
  /// order `diagonals`, element_bytes ≥ 1.
  BandShifts(const Band& band, std::uint64_t element_bytes, const BandConditions& conditions,
             const BandTiling& given = {});

  const BandConditions& conditions() const { return conditions_; }
  unsigned lanes() const { return lanes_; }
  /// Parts begin at whole blocks of the file, so the first one is shorter.
  std::uint64_t parts() const { return (bytes() + skew() + part_ - 1) / part_; }
  /// A part's bytes in the data.
  std::uint64_t begin(std::uint64_t part) const { return part == 0 ? 0 : part * part_ - skew(); }
  std::uint64_t end(std::uint64_t part) const { return std::min((part + 1) * part_ - skew(), bytes()); }
  /// What a part consists of. Its ranges need not fit in source_bytes() together, but each of them does.
  std::vector<BandRange> ranges(std::uint64_t part) const;

  /// Memory for what a part is made from, and for the part: it begins skew() later in the first one's.
  std::uint64_t source_bytes() const;
  std::uint64_t target_bytes() const { return part_ + conditions_.write_alignment; }
  std::uint64_t skew() const { return conditions_.target_offset % conditions_.write_alignment; }
  std::uint64_t memory() const { return lanes_ * (source_bytes() + target_bytes()); }

  PassSummary pass() const;
  /// For people, line by line.
  std::string describe() const;

 private:
  std::uint64_t bytes() const { return band_.places() * element_bytes_; }

  Band band_;
  std::uint64_t element_bytes_;
  BandConditions conditions_;
  std::uint64_t part_;
  unsigned lanes_;
};

}  // namespace xorder::plan
