#include "xorder/plan/summary.hpp"

#include <algorithm>

namespace xorder::plan {

PassSummary& PassSummary::operator+=(const PassSummary& next) {
  tiles += next.tiles;
  tile_bytes = std::max(tile_bytes, next.tile_bytes);
  source_block_bytes = std::min(source_block_bytes, next.source_block_bytes);
  target_block_bytes = std::min(target_block_bytes, next.target_block_bytes);
  memory = std::max(memory, next.memory);
  bytes_read += next.bytes_read;
  bytes_written += next.bytes_written;
  predicted_seconds += next.predicted_seconds;
  return *this;
}

std::uint64_t Summary::peak_memory() const {
  std::uint64_t most = 0;
  for (const PassSummary& pass : passes) most = std::max(most, pass.memory);
  return most;
}

double Summary::predicted_seconds() const {
  double sum = removal_seconds;
  for (const PassSummary& pass : passes) sum += pass.predicted_seconds;
  return sum;
}

}  // namespace xorder::plan
