// The conditions and the overrides for planning the transposition of a band.
#pragma once

#include <cstdint>
#include <optional>

#include "xorder/plan/device.hpp"

namespace xorder::plan {

/// The files and the memory.
struct BandConditions {
  std::uint64_t memory = 0;         ///< for buffers of reads and writes
  std::uint64_t source_offset = 0;  ///< of the data in its file
  std::uint64_t target_offset = 0;
  std::uint64_t read_alignment = 1;  ///< of requests, in the file and in memory
  std::uint64_t write_alignment = 1;
  Device device = Device::ssd();
};

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

}  // namespace xorder::plan
