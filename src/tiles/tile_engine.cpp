#include "tiles/tile_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "io/queue/queue.hpp"
#include "plan/cost.hpp"
#include "rounding.hpp"
#include "seconds_text.hpp"
#include "size_text.hpp"
#include "task/workers.hpp"
#include "tiles/joints.hpp"
#include "tiles/tile_pass.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {

using std::uint64_t;

namespace {

// A pass of a team takes as long as the member with the most tiles. Less memory makes more tiles, which may
// give more even shares. So this tries eight amounts of memory.
plan::Plan shared_plan(const Reordering& what, const plan::Conditions& conditions) {
  std::optional<plan::Plan> best;
  double least = 0;
  for (int eighths = 8; eighths > 0; --eighths) {
    plan::Conditions fewer = conditions;
    if (eighths < 8)
      fewer.memory =
          std::max(conditions.memory / 8 * static_cast<uint64_t>(eighths), plan::least_plan_memory);
    std::optional<plan::Plan> plan;
    try {
      plan = plan::make_plan(what, fewer);
    } catch (const InputError&) {
      if (!best) throw;
      break;
    }
    double seconds = plan::scratch_seconds(plan->scratch_bytes(), conditions.host);
    for (const plan::Pass& pass : plan->passes) {
      const uint64_t tiles = pass.tiling.tile_count(), processes = conditions.processes;
      const uint64_t most = ceil_div(tiles, processes);
      seconds += pass.seconds * static_cast<double>(most * processes) / static_cast<double>(tiles);
    }
    if (best && seconds >= least) continue;
    best = std::move(plan);
    best->conditions.memory = conditions.memory;
    least = seconds;
  }
  return *std::move(best);
}

plan::Plan plan_for(const Reordering& what, const plan::Conditions& conditions) {
  return conditions.processes == 1 ? plan::make_plan(what, conditions) : shared_plan(what, conditions);
}

TileRange share_of(uint64_t tiles, const work::Team& team) {
  const auto rank = static_cast<uint64_t>(team.rank()), size = static_cast<uint64_t>(team.size());
  const auto begin = [&](uint64_t r) { return tiles / size * r + tiles % size * r / size; };
  return {begin(rank), begin(rank + 1)};
}

}  // namespace

TileEngine::TileEngine(const Reordering& what, const work::Circumstances& circumstances,
                       const work::Disks& disks, const work::Team* team, const plan::Only& only)
    : circumstances_(circumstances) {
  plan::Conditions conditions;
  conditions.memory = circumstances.buffers();
  conditions.touched_memory = circumstances.touched_memory;
  const plan::Device cache = plan::Device::page_cache();
  const bool cached_source = circumstances.keep_cached && circumstances.source != io::Access::direct;
  // Cached data can be read in small requests without loss. That allows large requests for writing, and small
  // tiles, which are written while the next ones are read.
  conditions.device =
      circumstances.mapped() ? (cached_source ? cache : disks.target).through_windows() : disks.target;
  if (!circumstances.mapped()) conditions.source = cached_source ? cache : disks.source;
  conditions.source_offset = circumstances.source_offset;
  conditions.target_offset = circumstances.target_offset;
  conditions.scratch_offset = circumstances.scratch_offset;
  conditions.read_alignment = circumstances.read_alignment;
  // Two windows must not share a page: what one of them writes back and drops, the other would bring in
  // again.
  if (circumstances.mapped()) conditions.read_alignment = plan::file_block;
  conditions.write_alignment = plan::file_block;
  if (team != nullptr) conditions.processes = static_cast<uint64_t>(team->size());
  conditions.scratch_room = circumstances.scratch_room;
  conditions.only = only;
  plan_ = plan_for(what, conditions);
}

std::string TileEngine::note() const {
  if (plan_.conditions.scratch_room / 2 >= plan_.what.bytes()) return {};
  plan::Conditions roomy = plan_.conditions;
  roomy.scratch_room = plan::Conditions{}.scratch_room;
  const plan::Plan wanted = plan_for(plan_.what, roomy);
  if (wanted.scratch_bytes() <= plan_.scratch_bytes()) return {};
  return fmt::format(
      "there is no room for {} of scratch files; with them the run would take about {} instead of {}",
      size_text(wanted.scratch_bytes()), seconds_text(wanted.seconds()), seconds_text(plan_.seconds()));
}

// Reads and writes together. A request that goes through the page cache holds pages there. All of them may
// hold an eighth of the memory.
unsigned TileEngine::queue_depth() const {
  const uint64_t depth = 2 * plan_.conditions.device.depth;
  if (!circumstances_.through_cache()) return static_cast<unsigned>(depth);
  uint64_t block = plan::file_block;
  for (const plan::Pass& pass : plan_.passes)
    block =
        std::max({block, pass.source_block_bytes, std::min(pass.target_block_bytes, pass.write_slot_bytes)});
  const uint64_t most = circumstances_.memory / 8 / std::min(block, plan::largest_request);
  return static_cast<unsigned>(std::min(std::max<uint64_t>(most, 4), depth));  // the depth may be below 4
}

std::vector<plan::PassSummary> TileEngine::passes() const {
  std::vector<plan::PassSummary> all;
  const uint64_t bytes = plan_.what.bytes();
  for (const plan::Pass& pass : plan_.passes) {
    all.push_back({.tiles = pass.tiling.tile_count(),
                   .tile_bytes = pass.tile_bytes,
                   .source_block_bytes = pass.source_block_bytes,
                   .target_block_bytes = pass.target_block_bytes,
                   .memory = pass.memory(),
                   .bytes_read = bytes,
                   .bytes_written = bytes,
                   .predicted_seconds = pass.seconds});
  }
  return all;
}

// The files may need larger alignments than were assumed before they were opened. Adopts the largest of them.
void TileEngine::adopt_alignments(const std::vector<Route>& routes, work::Team* team) {
  plan::Conditions conditions = plan_.conditions;
  for (const auto& [source, target] : routes) {
    conditions.read_alignment = std::max<uint64_t>(
        {conditions.read_alignment, source.file.offset_alignment(), source.file.memory_alignment()});
    conditions.write_alignment = std::max<uint64_t>(
        {conditions.write_alignment, target.file.write_alignment(), target.file.memory_alignment()});
  }
  if (team != nullptr) {
    conditions.read_alignment = team->most(conditions.read_alignment);
    conditions.write_alignment = team->most(conditions.write_alignment);
  }
  if (conditions.read_alignment == plan_.conditions.read_alignment &&
      conditions.write_alignment == plan_.conditions.write_alignment) {
    return;
  }
  plan::Plan plan = plan_for(plan_.what, conditions);
  if (plan.passes.size() != plan_.passes.size()) {
    throw IoError(routes.back().target.file.name(),
                  "its file system needs a larger alignment than planned; use --io mapped");
  }
  plan_ = std::move(plan);
}

void TileEngine::run(work::Run& run, const work::Relay& relay, const PassRange& range) {
  const std::size_t passes = plan_.passes.size(), first = range.last - passes;
  const auto within = [&](io::Location place) {
    return io::Location{place.file, place.offset + range.offset};
  };
  std::vector<Route> routes;
  for (std::size_t i = 0; i < passes; ++i) {
    const std::size_t reads = i == 0 ? range.first : first + i;
    routes.push_back({within(relay.source(reads)), within(relay.target(first + i))});
  }
  adopt_alignments(routes, run.sharing());

  task::Workers workers(run.frame().options.threads);
  run.say(workers.note());
  const auto queue = run.queue(queue_depth());
  io::BlockMemory memory = memory_for(plan_.passes);
  const run::Setting setting{memory, workers, [&] { run.tick(); }, run.stop()};
  for (std::size_t i = 0; i < passes; ++i) {
    const PassFiles files{routes[i].source, routes[i].target, plan_.conditions.read_alignment,
                          plan_.conditions.write_alignment};
    perform(run, plan_.passes[i], files, *queue, setting, first + i + 1);
    if (i + 1 < passes) relay.finish(first + i);
  }
}

void TileEngine::perform(work::Run& run, const plan::Pass& pass, const PassFiles& files, io::Queue& queue,
                         const run::Setting& setting, std::size_t number) {
  const uint64_t bytes = plan_.what.bytes(), count = pass.tiling.tile_count();
  work::Team* const team = run.sharing();
  if (team == nullptr) {
    run.begin(2 * bytes, number);
    return run_pass(pass, files, queue, setting);
  }
  const TileRange share = share_of(count, *team);
  run.begin(std::min(2 * pass.tile_bytes * (share.last - share.first), 2 * bytes), number);
  const auto rest = run_tiles(pass, share, files, queue, setting);
  const uint64_t begin = files.target.offset;
  complete_joints(*team, files.target.file, begin, begin + bytes, files.write_alignment, rest);
}

}  // namespace xorder::tiles
