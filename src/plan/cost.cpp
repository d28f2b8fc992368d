#include "plan/cost.hpp"
#include "rounding.hpp"

#include <algorithm>

namespace xorder::plan {

using std::uint64_t;

namespace {

double seconds_from_nothing(uint64_t memory, const Host& host) {
  const uint64_t ready = std::min(memory, host.ready_memory);
  return static_cast<double>(ready) / host.ready_bytes_per_second +
         static_cast<double>(memory - ready) / host.fresh_bytes_per_second;
}

// Of a pass over blocks of this size.
uint64_t request_bytes(uint64_t block, uint64_t largest) { return std::clamp<uint64_t>(block, 1, largest); }

}  // namespace

double touching_seconds(uint64_t memory, uint64_t touched, const Host& host) {
  return seconds_from_nothing(std::max(memory, touched), host) - seconds_from_nothing(touched, host);
}

double pass_seconds(const Load& load, const Conditions& conditions) {
  const Device& device = conditions.device;
  const auto blocks = [&](uint64_t block) { return ceil_div(load.bytes, block); };
  const Requests reads{blocks(load.read_block), load.read_block + load.read_excess};
  const Requests writes{blocks(load.write_block), load.write_block + load.write_excess};
  const double first = 1 / static_cast<double>(std::max<uint64_t>(load.tiles, 1));
  const double permuting = static_cast<double>(load.bytes) / conditions.host.permuted_bytes_per_second;
  const double ends = first * (std::max(device.read_seconds(reads.count, reads.bytes), permuting / 2) +
                               std::max(device.write_seconds(writes.count, writes.bytes), permuting / 2));
  const double between = (1 - first) * device.both_seconds(reads, writes);
  const double touching = touching_seconds(load.memory, conditions.touched_memory, conditions.host);
  return std::max(ends + between, permuting) + touching;
}

uint64_t scratch_files(std::size_t passes) { return std::clamp<uint64_t>(passes, 1, 3) - 1; }

double scratch_seconds(uint64_t bytes, const Host& host) {
  return static_cast<double>(bytes) / host.freed_bytes_per_second;
}

PassSummary timed(PassSummary pass, const Device& device, uint64_t largest) {
  const uint64_t read = request_bytes(pass.source_block_bytes, largest);
  const uint64_t written = request_bytes(pass.target_block_bytes, largest);
  pass.predicted_seconds = device.read_seconds(ceil_div(pass.bytes_read, read), read) +
                           device.write_seconds(ceil_div(pass.bytes_written, written), written);
  return pass;
}

PassSummary overlapped(PassSummary pass, const Device& device, const Host& host, uint64_t largest) {
  Conditions conditions;
  conditions.device = device;
  conditions.host = host;
  pass.predicted_seconds = pass_seconds({.bytes = pass.bytes_read,
                                         .read_block = request_bytes(pass.source_block_bytes, largest),
                                         .write_block = request_bytes(pass.target_block_bytes, largest),
                                         .tiles = pass.tiles,
                                         .memory = pass.memory},
                                        conditions);
  return pass;
}

}  // namespace xorder::plan
