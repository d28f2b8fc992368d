#include "tiles/tile_engine.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "io/carry.hpp"
#include "io/queue/queue.hpp"
#include "permutation/reordering_text.hpp"
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

std::string TileEngine::steps() const {
  std::string text;
  for (const plan::Pass& pass : plan_.passes) {
    const plan::TileChoice& choice = pass.tiling.choice();
    text +=
        fmt::format("{} tiles {}, low {} {}, of {}; ", pass.tiling.tile_count(), fmt::join(choice.tile, " "),
                    choice.source_low, choice.target_low, text_of(pass.tiling.what()));
  }
  return text;
}

TileEngine::Files TileEngine::files(const work::Run& run, const work::Relay& relay,
                                    const PassRange& range) const {
  const std::size_t passes = plan_.passes.size(), first = range.last - passes;
  const auto within = [&](io::Location place) {
    return io::Location{place.file, place.offset + range.offset};
  };
  Files files;
  for (std::size_t i = 0; i < passes; ++i) {
    files.sources.push_back(within(relay.source(i == 0 ? range.first : first + i)));
    files.targets.push_back(within(relay.target(first + i)));
  }
  if (plan_.setting.strided) files.inputs = run.sources();
  return files;
}

void TileEngine::adopt_alignments(const work::Run& run, const work::Relay& relay, const PassRange& range) {
  Files files = this->files(run, relay, range);
  std::ranges::copy(files.inputs, std::back_inserter(files.sources));
  plan::Setting setting = plan_.setting;
  if (!work::adopt_alignments(setting, files.sources, files.targets, run.sharing())) return;
  plan::Plan plan = plan::make_plan(plan_.what, setting);
  if (plan.passes.size() != plan_.passes.size())
    throw IoError(files.targets.back().file.name(),
                  "its file system needs a larger alignment than planned; use --io mapped");
  plan_ = std::move(plan);
}

void TileEngine::run(work::Run& run, const work::Relay& relay, const PassRange& range,
                     verify::Comparison* comparison) {
  const std::size_t passes = plan_.passes.size(), first = range.last - passes;
  const Files files = this->files(run, relay, range);
  task::Workers workers(run.frame().options.threads);
  run.say(workers.note());
  const auto queue = run.queue(queue_depth());
  io::BlockMemory memory = memory_for(plan_.passes);
  const run::Environment environment{memory, workers, [&] { run.tick(); }, run.stop()};
  for (std::size_t i = 0; i < passes; ++i) {
    const bool strided = plan_.passes[i].strided != nullptr;
    const PassFiles of_pass{strided ? files.inputs : std::vector{files.sources[i]},
                            files.targets[i],
                            plan_.setting.read_alignment,
                            plan_.setting.write_alignment,
                            i == 0 ? comparison : nullptr,
                            i + 1 == passes ? run.parts() : nullptr,
                            plan_.setting.target_part};
    perform(run, i, of_pass, *queue, environment, first + i);
    if (i + 1 < passes) relay.finish(first + i);
  }
}

void TileEngine::perform(work::Run& run, std::size_t index, const PassFiles& files, io::Queue& queue,
                         const run::Environment& environment, std::size_t number) {
  const plan::Pass& pass = plan_.passes[index];
  const uint64_t bytes = plan_.what.bytes(), count = pass.tiling.tile_count();
  if (work::Team* const team = run.sharing()) {
    const TileRange share = share_of(count, *team);
    run.begin(std::min(2 * pass.tile_bytes * (share.last - share.first), 2 * bytes), number + 1);
    const auto rest = run_tiles(pass, share, files, queue, environment);
    const uint64_t begin = files.target.offset;
    return complete_joints(*team, files.target.file, begin, begin + bytes, files.write_alignment, rest);
  }
  const auto tiles = [&](uint64_t from, uint64_t to) {
    if (to - from == count) return run_pass(pass, files, queue, environment);
    io::write_parts(files.target.file, run_tiles(pass, {from, to}, files, queue, environment));
  };
  run.perform({number, count, pass.bytes_read() + bytes, pass.seconds}, files.target.file, tiles);
}

}  // namespace xorder::tiles
