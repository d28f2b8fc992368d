// How the transposition of a band in the order `diagonals` is cut. Record k of the source becomes record
// B − 1 − k of the target, shifted by k − KU. So any range of the target consists of a few ranges of the
// source, and of zeros where a shift leaves the matrix. The target is made *part* by part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/bands/band_tiling.hpp"
#include "plan/setting.hpp"
#include "rounding.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

/// Bytes that are copied as a whole. Places are in bytes from the beginning of the data.
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

/// The sources of the bytes [begin, end) of the target; bytes that have none are zero. Ranges are ascending.
/// Ranges at most `gap` bytes apart are joined, unless the result would be longer than `longest`. Requires
/// check(band) and the order `diagonals`. The time is proportional to the number of records in [begin, end).
std::vector<BandRange> band_shifts(const Band& band, std::uint64_t element_bytes, std::uint64_t begin,
                                   std::uint64_t end, std::uint64_t gap, std::uint64_t longest);

class BandShifts {
 public:
  /// Chooses the size of a part and how many are in flight: as large and as many as are useful and fit.
  /// Never takes less than 64 KiB and least_lanes, even if memory() is then too large. Requires check(band),
  /// the order `diagonals`, element_bytes ≥ 1.
  BandShifts(const Band& band, std::uint64_t element_bytes, const Setting& setting,
             const BandTiling& given = {});

  const Setting& setting() const { return setting_; }
  unsigned lanes() const { return lanes_; }
  /// Parts begin at whole blocks of the file, so the first one is shorter.
  std::uint64_t parts() const { return ceil_div(bytes() + skew(), part_); }
  /// A part's bytes in the data.
  std::uint64_t begin(std::uint64_t part) const { return part == 0 ? 0 : part * part_ - skew(); }
  std::uint64_t end(std::uint64_t part) const { return std::min((part + 1) * part_ - skew(), bytes()); }
  /// The sources of a part. Each range fits in source_bytes(), but all of them together may not.
  std::vector<BandRange> ranges(std::uint64_t part) const;

  /// Memory for the sources of a part, and for the part itself. The first part begins skew() bytes into it.
  std::uint64_t source_bytes() const;
  std::uint64_t target_bytes() const { return part_ + setting_.write_alignment; }
  std::uint64_t skew() const { return setting_.target_offset % setting_.write_alignment; }
  std::uint64_t memory() const { return lanes_ * (source_bytes() + target_bytes()); }

  PassSummary pass() const;
  /// For people, line by line.
  std::string describe() const;

 private:
  std::uint64_t bytes() const { return band_.places() * element_bytes_; }

  Band band_;
  std::uint64_t element_bytes_;
  Setting setting_;
  std::uint64_t part_;
  unsigned lanes_;
};

}  // namespace xorder::plan
