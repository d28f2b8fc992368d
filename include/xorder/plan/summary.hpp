// The figures of a plan, whatever its engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xorder::plan {

/// A pass over all of the data, as planned.
struct PassSummary {
  std::uint64_t tiles = 0;  ///< parts of the data that are done one after the other
  std::uint64_t tile_bytes = 0;
  std::uint64_t source_block_bytes = 0;  ///< contiguous bytes that are read
  std::uint64_t target_block_bytes = 0;  ///< contiguous bytes that are written
  std::uint64_t memory = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  double predicted_seconds = 0;

  /// Adds a pass over other data, done after this one. Keeps the largest tiles, the smallest blocks and the
  /// most memory of both, and adds up the rest.
  PassSummary& operator+=(const PassSummary& next);
};

/// What a run is going to do.
struct Summary {
  std::uint64_t bytes = 0;         ///< of the output's data
  std::uint64_t output_files = 1;  ///< in which they lie
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t scratch_bytes = 0;  ///< of disk
  std::uint64_t memory = 0;         ///< the limit of the run
  std::string device;
  double fresh_memory_rate = 0;  ///< assumed or measured: bytes per second that a thread gets, if not at hand
  std::string note;              ///< requests that cannot be met, fallbacks, and why; or empty
  std::string access;            ///< "direct" or "mapped"
  std::vector<PassSummary> passes;
  double removal_seconds = 0;  ///< predicted, to remove the scratch files at the end

  std::uint64_t peak_memory() const;  ///< of the passes
  double predicted_seconds() const;   ///< of the passes and the removal
};

}  // namespace xorder::plan
