#include "xorder/run/in_memory.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <vector>

#include "run/handover.hpp"
#include "run/tiles/kernel_layout.hpp"
#include "run/workers.hpp"
#include "xorder/kernel/kernel.hpp"
#include "xorder/plan/plan.hpp"

namespace xorder::run {
namespace {

void permute_group(const plan::Tiling& tiling, const kernel::Kernel& kernel, const plan::Group& group,
                   const std::vector<plan::Run>& target_runs, const std::byte* source, std::byte* target) {
  const std::uint64_t w = tiling.what().element_bytes;
  std::vector<plan::Run> source_runs;
  tiling.source_runs(group, source_runs);
  std::vector<const std::byte*> sources;
  for (const plan::Run& run : source_runs) sources.push_back(source + run.offset * w);
  std::vector<std::byte*> targets;
  for (std::size_t r = group.target_shift.runs; r < target_runs.size(); ++r) {
    targets.push_back(target + (target_runs[r].offset + group.target_shift.elements) * w);
  }
  std::vector<std::uint64_t> lengths;
  kernel_lengths(tiling, group, lengths);
  kernel(sources.data(), targets.data(), lengths, group.target_offset);
}

}  // namespace

// The same tiles and groups as for files, on memory in place of buffers.
void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads) {
  plan::Conditions conditions;
  conditions.memory = plan::minimum_memory + 4 * what.bytes();
  conditions.device = plan::Device::page_cache();
  const plan::Plan plan = plan::make_plan(what, conditions);
  if (plan.passes.empty()) return;
  const plan::Tiling& tiling = plan.passes.front().tiling;
  const kernel::Kernel kernel(kernel_layout(tiling));
  Workers workers(threads);
  const auto permute_tile = [&](std::uint64_t t) {
    received();
    const plan::Tile tile = tiling.tile(t);
    std::vector<plan::Run> target_runs;
    tiling.target_runs(tile, target_runs);
    const auto permute_one = [&](std::uint64_t g) {
      received();
      permute_group(tiling, kernel, tiling.group(tile, g), target_runs, source, target);
      hand_over();
    };
    hand_over();
    oneapi::tbb::parallel_for(std::uint64_t{0}, tile.groups, permute_one);
    received();
    hand_over();
  };
  const std::uint64_t tiles = tiling.tile_count();
  const auto permute_all = [&] {
    const InTask task;
    oneapi::tbb::parallel_for(std::uint64_t{0}, tiles, permute_tile);
  };
  hand_over();
  workers.arena.execute(permute_all);
  received();
}

}  // namespace xorder::run
