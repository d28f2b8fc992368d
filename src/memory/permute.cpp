#include "xorder/memory/permute.hpp"

#include <oneapi/tbb/parallel_for.h>

#include <vector>

#include "kernel/kernel.hpp"
#include "plan/plan.hpp"
#include "task/handover.hpp"
#include "task/workers.hpp"
#include "tiles/kernel_layout.hpp"

namespace xorder::memory {
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
  tiles::kernel_lengths(tiling, group, lengths);
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
  const kernel::Kernel kernel(tiles::kernel_layout(tiling));
  task::Workers workers(threads);
  const auto permute_tile = [&](std::uint64_t t) {
    task::received();
    const plan::Tile tile = tiling.tile(t);
    std::vector<plan::Run> target_runs;
    tiling.target_runs(tile, target_runs);
    const auto permute_one = [&](std::uint64_t g) {
      task::received();
      permute_group(tiling, kernel, tiling.group(tile, g), target_runs, source, target);
      task::hand_over();
    };
    task::hand_over();
    oneapi::tbb::parallel_for(std::uint64_t{0}, tile.groups, permute_one);
    task::received();
    task::hand_over();
  };
  const std::uint64_t tiles = tiling.tile_count();
  const auto permute_all = [&] {
    const task::InTask task;
    oneapi::tbb::parallel_for(std::uint64_t{0}, tiles, permute_tile);
  };
  task::hand_over();
  workers.arena.execute(permute_all);
  task::received();
}

}  // namespace xorder::memory
