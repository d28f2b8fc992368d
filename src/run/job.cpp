#include "xorder/run/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "pipeline.hpp"
#include "residency.hpp"
#include "run/delivery.hpp"
#include "workers.hpp"
#include "xorder/error.hpp"
#include "xorder/io/memory.hpp"

namespace xorder::run {
namespace {

using std::uint64_t;

constexpr uint64_t MiB = uint64_t{1} << 20;
// Files up to this size are not worth asking whether they are cached.
constexpr uint64_t small_file = 32 * MiB;

// Several files of a run, the strictest of their demands: the output's are known only once it exists.
void adopt(plan::Conditions& c, const io::File& source, const io::File& target) {
  c.read_alignment =
      std::max<uint64_t>({c.read_alignment, source.offset_alignment(), source.memory_alignment()});
  c.write_alignment =
      std::max<uint64_t>({c.write_alignment, target.write_alignment(), target.memory_alignment()});
}

// io_uring is for direct writes; threads suit buffered ones better, whose write-back blocks.
io::Engine engine_for(const io::File& source, const io::File& target) {
  if (source.access() == io::Access::mapped) return io::Engine::mapped;
  return target.access() == io::Access::direct && io::uring_available() ? io::Engine::uring
                                                                        : io::Engine::threads;
}

const char* access_name(io::Access access) {
  switch (access) {
    case io::Access::direct:
      return "direct";
    case io::Access::buffered:
      return "buffered";
    case io::Access::mapped:
      return "mapped";
  }
  return "";
}

// `wanted` was asked for; says what was not to be had.
std::string fallback_note(const io::File& file, io::Access wanted) {
  if (file.access() == wanted) return {};
  return fmt::format("{}: the file system refuses direct access; going through the page cache", file.name());
}

}  // namespace

Job::Job(io::ArrayFile input, const Reordering& what, std::vector<std::uint64_t> extents,
         std::filesystem::path output, Options options)
    : input_(std::move(input)),
      output_(destination(std::move(output), input_, input_.description.dtype, extents)),
      options_(std::move(options)) {
  memory_ = effective_memory(options_.memory);
  const uint64_t bytes = what.bytes();
  const io::File probe = io::File::open_input(input_.path, io::Access::direct);
  check_delivery(output_, std::span(&input_, 1), options_);

  const bool fits = bytes <= memory_ / 2;
  const bool small = bytes <= small_file;
  keep_cached_ = fits && (small || mostly_cached(probe));
  if (options_.engine == EngineChoice::mapped ||
      (options_.engine == EngineChoice::automatic && fits && small)) {
    source_access_ = target_access_ = io::Access::mapped;
  } else if (options_.engine == EngineChoice::automatic && keep_cached_) {
    source_access_ = io::Access::buffered;  // what is in memory need not be read from the disk
  }
  plan::Conditions conditions;
  through_cache_ = !keep_cached_ && target_access_ != io::Access::direct;
  conditions.memory = through_cache_ ? memory_ / 4 * 3 : memory_;
  conditions.device = mapped() && keep_cached_ ? plan::Device::page_cache() : options_.device;
  conditions.source_offset = input_.description.offset;
  conditions.target_offset = output_.header.size();
  if (source_access_ == io::Access::direct) {
    conditions.read_alignment = std::max(probe.offset_alignment(), probe.memory_alignment());
  }
  if (target_access_ == io::Access::direct) conditions.write_alignment = 4096;
  plan_ = plan::make_plan(what, conditions);
}

// Reads and writes at once. Each one that passes through the page cache holds pages there, an eighth of the
// memory at most.
unsigned Job::queue_depth() const {
  const uint64_t depth = 2 * plan_.conditions.device.depth;
  if (!through_cache_) return static_cast<unsigned>(depth);
  uint64_t block = 4096;
  for (const plan::Pass& pass : plan_.passes)
    block = std::max({block, pass.source_block_bytes, pass.target_block_bytes});
  return static_cast<unsigned>(
      std::clamp<uint64_t>(memory_ / 8 / std::min(block, plan::largest_request), 4, depth));
}

Summary Job::summary() const {
  Summary all{.bytes = plan_.what.bytes(),
              .bytes_read = plan_.bytes_read(),
              .bytes_written = plan_.bytes_written(),
              .scratch_bytes = plan_.scratch_bytes(),
              .memory = memory_,
              .device = plan_.conditions.device.name,
              .engine = mapped() ? "mapped" : "direct",
              .passes = {}};
  for (const plan::Pass& pass : plan_.passes) {
    all.passes.push_back({pass.tiling.tile_count(), pass.tile_bytes, pass.source_block_bytes,
                          pass.target_block_bytes, pass.memory(), pass.seconds});
  }
  return all;
}

Report Job::run(const ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  Report report;
  report.passes = plan_.passes.size();

  Delivery delivery(output_, std::span(&input_, 1), source_access_, target_access_, options_, memory_);
  io::File& source = delivery.source();
  io::File& target = delivery.target();
  source.set_keep_cached(keep_cached_);
  target.set_keep_cached(keep_cached_);

  // A pass reads what the one before has written: the input, scratch files in turn, and at last the output.
  std::vector<io::File> scratch;
  for (uint64_t made = 0; made < plan_.scratch_bytes(); made += plan_.what.bytes()) {
    scratch.push_back(delivery.scratch(plan_.what.bytes()));
  }
  const auto source_of = [&](std::size_t pass) -> Place {
    if (pass == 0) return {source, input_.description.offset};
    return {scratch[(pass - 1) % scratch.size()], 0};
  };
  const auto target_of = [&](std::size_t pass) -> Place {
    if (pass + 1 == plan_.passes.size()) return {target, delivery.target_offset()};
    return {scratch[pass % scratch.size()], 0};
  };

  // The output may demand larger blocks than was assumed before it existed.
  plan::Conditions conditions = plan_.conditions;
  adopt(conditions, source, target);
  for (const io::File& file : scratch) adopt(conditions, file, file);
  if (conditions.read_alignment != plan_.conditions.read_alignment ||
      conditions.write_alignment != plan_.conditions.write_alignment) {
    const std::size_t passes = plan_.passes.size();
    plan_ = plan::make_plan(plan_.what, conditions);
    if (plan_.passes.size() != passes)
      throw IoError(output_.path.string(), "its file system needs another plan; use --io mapped");
  }

  Workers workers(options_.threads);
  const io::Engine engine = engine_for(source, target);
  const auto queue = io::make_queue(engine, queue_depth());
  report.engine = queue->name();
  report.access = access_name(target.access());
  report.note = fallback_note(source, source_access_);
  if (report.note.empty()) report.note = fallback_note(target, target_access_);
  if (report.note.empty() && engine == io::Engine::threads)
    report.note = "io_uring is forbidden here; using a pool of threads";

  Progress state{0, 2 * plan_.what.bytes() * plan_.passes.size(), 1, plan_.passes.size()};
  for (std::size_t i = 0; i < plan_.passes.size(); ++i) {
    state.pass = i + 1;
    const uint64_t before = state.bytes_done;
    const auto counters = run_pass(
        plan_.passes[i], source_of(i), target_of(i), conditions.read_alignment, conditions.write_alignment,
        *queue, workers.arena,
        [&](const PassCounters& now) {
          state.bytes_done = std::min(state.bytes_total, before + now.bytes_read + now.bytes_written);
          if (progress) progress(state);
        },
        stop);
    state.bytes_done = before + 2 * plan_.what.bytes();
    report.bytes_read += counters.bytes_read;
    report.bytes_written += counters.bytes_written;
    report.reads += counters.reads;
    report.writes += counters.writes;
  }
  delivery.commit(stop);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_memory = io::peak_resident_memory();
  return report;
}

}  // namespace xorder::run
