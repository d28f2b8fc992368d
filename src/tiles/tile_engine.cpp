#include "tiles/tile_engine.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "io/queue/queue.hpp"
#include "plan/price.hpp"
#include "rounding.hpp"
#include "task/workers.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"
#include "tiles/joints.hpp"
#include "tiles/tile_pass.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {

using std::uint64_t;

namespace {

TileRange share_of(uint64_t tiles, const work::Team& team) {
  const auto rank = static_cast<uint64_t>(team.rank()), size = static_cast<uint64_t>(team.size());
  const auto begin = [&](uint64_t r) { return tiles / size * r + tiles % size * r / size; };
  return {begin(rank), begin(rank + 1)};
}

// All that decides which bytes a tile has.
std::string text_of(const plan::Plan& plan) {
  std::string text;
  for (const plan::Pass& pass : plan.passes) {
    const Reordering& what = pass.tiling.what();
    const plan::TileChoice& choice = pass.tiling.choice();
    text += fmt::format("{} tiles {} of {} x {} in order {}, low {} {}", pass.tiling.tile_count(),
                        fmt::join(choice.tile, " "), what.element_bytes, fmt::join(what.extents, " "),
                        fmt::join(what.order, " "), choice.source_low, choice.target_low);
    if (what.mapped)
      text += fmt::format(", axis {} by {} and {}", *what.mapped, fmt::join(what.map.matrix.columns(), " "),
                          what.map.complement);
    text += "; ";
  }
  return text;
}

plan::Setting for_tiles(plan::Setting setting) {
  setting.memory = setting.buffers();
  // Two windows must not share a page: what one of them writes back and drops, the other would bring in
  // again.
  if (setting.mapped) {
    setting.device = setting.device.through_windows();
    setting.read_alignment = plan::file_block;
  }
  setting.write_alignment = plan::file_block;
  return setting;
}

}  // namespace

TileEngine::TileEngine(const Reordering& what, const plan::Setting& setting)
    : plan_(plan::make_plan(what, for_tiles(setting))) {}

std::string TileEngine::note() const {
  if (plan_.setting.scratch_room / 2 >= plan_.what.bytes()) return {};
  plan::Setting roomy = plan_.setting;
  roomy.scratch_room = plan::Setting{}.scratch_room;
  const plan::Plan wanted = plan::make_plan(plan_.what, roomy);
  if (wanted.scratch_bytes() <= plan_.scratch_bytes()) return {};
  return fmt::format(
      "there is no room for {} of scratch files; with them the run would take about {} instead of {}",
      size_text(wanted.scratch_bytes()), seconds_text(wanted.seconds()), seconds_text(plan_.seconds()));
}

// Reads and writes together. A request that goes through the page cache holds pages there. All of them may
// hold an eighth of the run's memory, of which three quarters are the plan's.
unsigned TileEngine::queue_depth() const {
  const uint64_t depth = 2 * plan_.setting.device.depth;
  if (!plan_.setting.through_cache()) return static_cast<unsigned>(depth);
  uint64_t block = plan::file_block;
  for (const plan::Pass& pass : plan_.passes)
    block =
        std::max({block, pass.source_block_bytes, std::min(pass.target_block_bytes, pass.write_slot_bytes)});
  const uint64_t most = plan_.setting.memory / 6 / std::min(block, plan::largest_request);
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
                   .bytes_read = pass.bytes_read(),
                   .bytes_written = bytes,
                   .predicted_seconds = pass.seconds});
  }
  return all;
}

// Makes the plan again if the files need larger alignments than were assumed.
void TileEngine::adopt_alignments(const std::vector<io::Location>& sources,
                                  const std::vector<io::Location>& targets, work::Team* team) {
  plan::Setting setting = plan_.setting;
  if (!work::adopt_alignments(setting, sources, targets, team)) return;
  plan::Plan plan = plan::make_plan(plan_.what, setting);
  if (plan.passes.size() != plan_.passes.size())
    throw IoError(targets.back().file.name(),
                  "its file system needs a larger alignment than planned; use --io mapped");
  plan_ = std::move(plan);
}

void TileEngine::run(work::Run& run, const work::Relay& relay, const PassRange& range,
                     verify::Comparison* comparison) {
  const std::size_t passes = plan_.passes.size(), first = range.last - passes;
  const auto within = [&](io::Location place) {
    return io::Location{place.file, place.offset + range.offset};
  };
  std::vector<io::Location> sources, targets;  // of the passes
  for (std::size_t i = 0; i < passes; ++i) {
    const std::size_t reads = i == 0 ? range.first : first + i;
    sources.push_back(within(relay.source(reads)));
    targets.push_back(within(relay.target(first + i)));
  }
  std::vector<io::Location> inputs;  // of a first pass that reads files of any layout
  if (plan_.setting.strided) inputs = run.sources();
  for (const io::Location& input : inputs) sources.push_back(input);
  adopt_alignments(sources, targets, run.sharing());

  task::Workers workers(run.frame().options.threads);
  run.say(workers.note());
  const auto queue = run.queue(queue_depth());
  io::BlockMemory memory = memory_for(plan_.passes);
  const run::Environment environment{memory, workers, [&] { run.tick(); }, run.stop()};
  work::Reached reached;
  if (run.resumable()) reached = run.begin_resumable(text_of(plan_));
  for (std::size_t i = 0; i < passes; ++i) {
    const bool strided = plan_.passes[i].strided != nullptr;
    const PassFiles files{strided ? inputs : std::vector{sources[i]},
                          targets[i],
                          plan_.setting.read_alignment,
                          plan_.setting.write_alignment,
                          i == 0 ? comparison : nullptr,
                          i + 1 == passes ? run.parts() : nullptr,
                          plan_.setting.target_part};
    if (run.resumable())
      perform_resumable(run, i, files, *queue, environment, reached);
    else
      perform(run, plan_.passes[i], files, *queue, environment, first + i + 1);
    if (i + 1 < passes) relay.finish(first + i);
  }
}

// A part begins when the one before has ended, which costs about half of the time of a tile where reads and
// writes go on at the same time. In the end the parts' shared blocks are written through the page cache, and
// all is synced.
void TileEngine::perform_resumable(work::Run& run, std::size_t number, const PassFiles& files,
                                   io::Queue& queue, const run::Environment& environment,
                                   work::Reached reached) {
  constexpr double seconds = 10;
  constexpr uint64_t least_tiles = 16;
  const plan::Pass& pass = plan_.passes[number];
  const uint64_t count = pass.tiling.tile_count(), bytes = pass.bytes_read() + plan_.what.bytes();
  uint64_t done = number < reached.pass ? count : number == reached.pass ? std::min(reached.tiles, count) : 0;
  run.begin(bytes, number + 1, bytes / std::max<uint64_t>(count, 1) * done);
  const double tiles = seconds / std::max(pass.seconds / static_cast<double>(count), 1e-9);
  const uint64_t part = std::max(least_tiles, static_cast<uint64_t>(std::min(tiles, 1e15)));
  while (done < count) {
    const uint64_t end = count - done < 2 * part ? count : done + part;
    for (const io::BlockPart& rest : run_tiles(pass, {done, end}, files, queue, environment))
      files.target.file.write_exactly(rest.data.data(), rest.data.size(), rest.from);
    done = end;
    const bool last = done == count;
    if (!last || number + 1 < plan_.passes.size())
      run.checkpoint(last ? number + 1 : number, last ? 0 : done, files.target.file);
  }
}

void TileEngine::perform(work::Run& run, const plan::Pass& pass, const PassFiles& files, io::Queue& queue,
                         const run::Environment& environment, std::size_t number) {
  const uint64_t bytes = plan_.what.bytes(), count = pass.tiling.tile_count();
  work::Team* const team = run.sharing();
  if (team == nullptr) {
    run.begin(pass.bytes_read() + bytes, number);
    return run_pass(pass, files, queue, environment);
  }
  const TileRange share = share_of(count, *team);
  run.begin(std::min(2 * pass.tile_bytes * (share.last - share.first), 2 * bytes), number);
  const auto rest = run_tiles(pass, share, files, queue, environment);
  const uint64_t begin = files.target.offset;
  complete_joints(*team, files.target.file, begin, begin + bytes, files.write_alignment, rest);
}

}  // namespace xorder::tiles
