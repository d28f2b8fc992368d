#include "tiles/tile_engine.hpp"

#include <algorithm>
#include <vector>

#include "io/queue.hpp"
#include "task/workers.hpp"
#include "tiles/pipeline.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {

using std::uint64_t;

TileEngine::TileEngine(const Reordering& what, const work::Circumstances& circumstances,
                       const plan::Device& device)
    : circumstances_(circumstances) {
  plan::Conditions conditions;
  conditions.memory = circumstances.buffers();
  conditions.touched_memory = circumstances.touched_memory;
  const plan::Device cache = plan::Device::page_cache();
  const bool cached_source = circumstances.keep_cached && circumstances.source != io::Access::direct;
  // What is in memory is as well read in small pieces, which leaves large ones for writing, and small tiles, which
  // are written while the next ones are read (512 MiB of doubles: 0.43 s in place of 0.51).
  conditions.device = !cached_source ? device : circumstances.mapped() ? cache : device.reading_from(cache);
  conditions.source_offset = circumstances.source_offset;
  conditions.target_offset = circumstances.target_offset;
  conditions.read_alignment = circumstances.read_alignment;
  if (circumstances.target == io::Access::direct) conditions.write_alignment = 4096;
  plan_ = plan::make_plan(what, conditions);
}

// Reads and writes at once. Each one that passes through the page cache holds pages there, an eighth of the
// memory at most.
unsigned TileEngine::queue_depth() const {
  const uint64_t depth = 2 * plan_.conditions.device.depth;
  if (!circumstances_.through_cache()) return static_cast<unsigned>(depth);
  uint64_t block = 4096;
  for (const plan::Pass& pass : plan_.passes)
    block = std::max({block, pass.source_block_bytes, pass.target_block_bytes});
  return static_cast<unsigned>(
      std::clamp<uint64_t>(circumstances_.memory / 8 / std::min(block, plan::largest_request), 4, depth));
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

// The files may demand larger blocks than was assumed before they existed: the strictest of their demands.
void TileEngine::adopt_alignments(const io::Location& source, const io::Location& target,
                                  const std::vector<io::File>& scratch) {
  plan::Conditions conditions = plan_.conditions;
  const auto adopt = [&](const io::File& from, const io::File& to) {
    conditions.read_alignment =
        std::max<uint64_t>({conditions.read_alignment, from.offset_alignment(), from.memory_alignment()});
    conditions.write_alignment =
        std::max<uint64_t>({conditions.write_alignment, to.write_alignment(), to.memory_alignment()});
  };
  adopt(source.file, target.file);
  for (const io::File& file : scratch) adopt(file, file);
  if (conditions.read_alignment == plan_.conditions.read_alignment &&
      conditions.write_alignment == plan_.conditions.write_alignment) {
    return;
  }
  const std::size_t passes = plan_.passes.size();
  plan_ = plan::make_plan(plan_.what, conditions);
  if (plan_.passes.size() != passes) {
    throw IoError(target.file.name(), "its file system needs another plan; use mapped access");
  }
}

void TileEngine::run(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  // A pass reads what the one before has written: the source, scratch files in turn, and at last the target.
  const uint64_t bytes = plan_.what.bytes();
  std::vector<io::File> scratch;
  for (uint64_t made = 0; made < plan_.scratch_bytes(); made += bytes) scratch.push_back(run.scratch(bytes));
  adopt_alignments(source, target, scratch);
  const auto source_of = [&](std::size_t i) -> io::Location {
    if (i == 0) return source;
    return {scratch[(i - 1) % scratch.size()], 0};
  };
  const auto target_of = [&](std::size_t i) -> io::Location {
    if (i + 1 == plan_.passes.size()) return target;
    return {scratch[i % scratch.size()], 0};
  };

  task::Workers workers(run.frame().options.threads);
  run.say(workers.note());
  const auto queue = run.queue(queue_depth());
  for (std::size_t i = 0; i < plan_.passes.size(); ++i) {
    run.begin(2 * bytes, pass + i);
    const PassFiles files{source_of(i), target_of(i), plan_.conditions.read_alignment,
                          plan_.conditions.write_alignment};
    run_pass(plan_.passes[i], files, *queue, {workers, [&] { run.tick(); }, run.stop()});
  }
}

}  // namespace xorder::tiles
