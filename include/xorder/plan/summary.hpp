// The figures of a plan, whatever its engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xorder/schedule/timing.hpp"

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

/// How long runs of a schedule take on a network, one after the other.
struct NetworkTime {
  schedule::LinkTimes times;
  std::uint64_t runs = 0;
  schedule::Duration store_and_forward{}, wormhole{};

  bool operator==(const NetworkTime&) const = default;
};

/// What crosses the network of a schedule.
struct Traffic {
  std::string schedule;
  std::uint64_t processors = 0;
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;         ///< between different virtual processors
  std::uint64_t crossings = 0;        ///< uses of links
  std::uint64_t bytes_moved = 0;      ///< of those messages
  std::optional<NetworkTime> time{};  ///< if it is simulated

  /// Adds what another run of the same schedule has sent. Steps are counted once.
  Traffic& operator+=(const Traffic& run) {
    messages += run.messages;
    crossings += run.crossings;
    bytes_moved += run.bytes_moved;
    if (time && run.time) {
      time->runs += run.time->runs;
      time->store_and_forward += run.time->store_and_forward;
      time->wormhole += run.time->wormhole;
    }
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};

/// What a run is going to do.
struct Summary {
  std::uint64_t bytes = 0;  ///< of the output's data
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t scratch_bytes = 0;  ///< of disk
  std::uint64_t memory = 0;         ///< the limit of the run
  std::string device;
  std::string note;    ///< requests that cannot be met, fallbacks, and why; or empty
  std::string access;  ///< "direct" or "mapped"
  std::vector<PassSummary> passes;
  double removal_seconds = 0;      ///< predicted, to remove the scratch files at the end
  std::optional<Traffic> traffic;  ///< between ranks that have a part each

  std::uint64_t peak_memory() const;  ///< of the passes
  double predicted_seconds() const;   ///< of the passes and the removal
};

}  // namespace xorder::plan
