// The overrides for planning the transposition of a band, and what all its plans choose among.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/price.hpp"
#include "plan/setting.hpp"

namespace xorder::plan {

/// Overrides; 0 lets the planner choose.
struct BandTiling {
  std::uint64_t strip = 0;                ///< w, at most B
  std::uint64_t rows = 0;                 ///< h, at most N
  unsigned lanes = 0;                     ///< steps in flight
  std::uint64_t part = 0;                 ///< bytes, for the order `diagonals`; a multiple of alignments
  std::optional<bool> whole_blocks = {};  ///< whether runs end at blocks
  std::uint64_t cuts = 0;                 ///< of a strip's columns, which have windows of their own

  bool operator==(const BandTiling&) const = default;
};

/// Bounds of the steps in flight that the planner chooses.
inline constexpr unsigned most_lanes = 8, least_lanes = 4;

/// `pass` with its price. Buffers for more than it reads and writes stay untouched.
inline PassSummary priced(const PassSummary& pass, const Setting& setting) {
  return priced(pass, setting.pass(true, true), setting.device.largest_useful_request(),
                pass.bytes_read + pass.bytes_written);
}

}  // namespace xorder::plan
