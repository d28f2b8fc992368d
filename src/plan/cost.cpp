#include "plan/cost.hpp"

#include <algorithm>

namespace xorder::plan {

using std::uint64_t;

double pass_seconds(const Load& load, const Conditions& conditions) {
  const Device& device = conditions.device;
  const auto blocks = [&](uint64_t block) { return (load.bytes + block - 1) / block; };
  const Requests reads{blocks(load.read_block), load.read_block + load.read_excess};
  const Requests writes{blocks(load.write_block), load.write_block + load.write_excess};
  const double first = 1 / static_cast<double>(std::max<uint64_t>(load.tiles, 1));
  const double ends = first * (device.read_seconds(reads.count, reads.bytes) +
                               device.write_seconds(writes.count, writes.bytes));
  const double between = (1 - first) * device.both_seconds(reads, writes);
  const double permuting = static_cast<double>(load.bytes) / conditions.host.permuted_bytes_per_second;
  const uint64_t fresh = load.memory - std::min(load.memory, conditions.touched_memory);
  return std::max(ends + between, permuting) +
         static_cast<double>(fresh) / conditions.host.fresh_bytes_per_second;
}

}  // namespace xorder::plan
