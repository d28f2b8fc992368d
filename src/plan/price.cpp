#include "plan/price.hpp"

#include <algorithm>

#include "rounding.hpp"

namespace xorder::plan {

using std::uint64_t;

namespace {

double seconds_from_nothing(uint64_t memory, const Setting& setting) {
  const Host& host = setting.host;
  const uint64_t ready = std::min(memory, host.ready_memory);
  const uint64_t alone = std::min(memory - ready, host.touched_alone), shared = memory - ready - alone;
  const double threads = std::min(setting.threads, host.most_touching_threads);
  return static_cast<double>(ready) / host.ready_bytes_per_second +
         (static_cast<double>(alone) + static_cast<double>(shared) / threads) / host.fresh_bytes_per_second;
}

Requests in_blocks(uint64_t bytes, uint64_t block, uint64_t largest) {
  const uint64_t each = std::clamp<uint64_t>(block, 1, largest);
  return {ceil_div(bytes, each), each};
}

}  // namespace

double touching_seconds(uint64_t memory, uint64_t touched, const Setting& setting) {
  return seconds_from_nothing(std::max(memory, touched), setting) - seconds_from_nothing(touched, setting);
}

double price(const Load& load, const Setting& setting) {
  const Device& device = setting.device;
  double read = device.read_seconds(load.reads.count, load.reads.bytes);
  double written = device.write_seconds(load.writes.count, load.writes.bytes);
  double both = device.both_seconds(load.reads, load.writes);
  if (load.edge_reads.count + load.edge_writes.count != 0) {
    read += device.read_seconds(load.edge_reads.count, load.edge_reads.bytes);
    written += device.write_seconds(load.edge_writes.count, load.edge_writes.bytes);
    both += device.both_seconds(load.edge_reads, load.edge_writes);
  }
  const double first = 1 / static_cast<double>(std::max<uint64_t>(load.tiles, 1));
  const double copying = static_cast<double>(load.copied) / setting.host.permuted_bytes_per_second;
  const double ends = first * (std::max(read, copying / 2) + load.exchange + std::max(written, copying / 2));
  const double between = (1 - first) * std::max(both, load.exchange);
  return std::max(ends + between, copying) + touching_seconds(load.memory, setting.touched_memory, setting);
}

PassSummary priced(PassSummary pass, const Setting& setting, uint64_t largest, uint64_t most_touched) {
  pass.predicted_seconds = price({.reads = in_blocks(pass.bytes_read, pass.source_block_bytes, largest),
                                  .writes = in_blocks(pass.bytes_written, pass.target_block_bytes, largest),
                                  .copied = pass.bytes_written,
                                  .tiles = pass.tiles,
                                  .memory = std::min(pass.memory, most_touched)},
                                 setting);
  return pass;
}

uint64_t scratch_files(std::size_t passes) { return std::clamp<uint64_t>(passes, 1, 3) - 1; }

double scratch_seconds(uint64_t bytes, const Host& host) {
  return static_cast<double>(bytes) / host.freed_bytes_per_second;
}

}  // namespace xorder::plan
