#include "xorder/descend/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "descend/cut.hpp"
#include "descend/sweeps.hpp"
#include "size_text.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"
#include "work/run.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

int checked_lg(const std::vector<io::ArrayFile>& inputs, const std::vector<uint64_t>& extents) {
  const uint64_t count = inputs.front().description.elements();
  for (const io::ArrayFile& input : inputs) {
    if (const uint64_t other = input.description.elements(); other != count) {
      throw InputError(fmt::format("{} has {} elements and {} has {}", inputs.front().path.string(), count,
                                   input.path.string(), other));
    }
  }
  const int lg = exact_lg(count, fmt::format("{}: the number of elements", inputs.front().path.string()));
  const uint64_t made = std::accumulate(extents.begin(), extents.end(), uint64_t{1}, std::multiplies<>());
  if (made != count) throw InputError(fmt::format("the output has {} elements, not {}", made, count));
  return lg;
}

work::Frame framed(std::vector<io::ArrayFile> inputs, const Computation& what, const io::DType& element,
                   const std::vector<uint64_t>& extents, std::filesystem::path output,
                   work::Options options) {
  const uint64_t count = uint64_t{1} << checked_lg(inputs, extents);
  uint64_t working = count * (element.bytes + 2 * what.record_bytes());
  for (const io::ArrayFile& input : inputs) working += count * input.description.dtype.bytes;
  return work::settle(std::move(inputs), std::move(output), element, extents, std::move(options), working);
}

// A sweep over all of the data: the iterations between blocks, or within them, or all of them in memory.
enum class Sweep { whole, between_blocks, within_blocks };

std::vector<Sweep> sweeps_of(const Cut& cut, Direction direction) {
  if (cut.in_memory()) return {Sweep::whole};
  if (!cut.local()) return {Sweep::between_blocks};
  if (direction == Direction::descend) return {Sweep::between_blocks, Sweep::within_blocks};
  return {Sweep::within_blocks, Sweep::between_blocks};
}

}  // namespace

struct DescendJob::Parts {
  std::unique_ptr<Computation> what;
  uint64_t element_bytes;
  Groups groups;
  Cut cut;
  std::vector<Sweep> sweeps;

  uint64_t record_bytes() const { return what->record_bytes() << cut.lg_size; }
  uint64_t between_bytes() const { return sweeps.size() > 1 ? record_bytes() : 0; }
  /// What lies between two sweeps lies where the output will, unless it is larger.
  bool needs_scratch() const { return sweeps.size() > 1 && what->record_bytes() != element_bytes; }
  work::PassSummary pass(Sweep sweep) const;
};

DescendJob::DescendJob(std::vector<io::ArrayFile> inputs, std::unique_ptr<Computation> what,
                       io::DType element, std::vector<uint64_t> extents, std::filesystem::path output,
                       work::Options options, DescendSizes sizes)
    : Work(framed(std::move(inputs), *what, element, extents, std::move(output), std::move(options))) {
  Computation& computation = *what;
  const int lg_size = exact_lg(frame().input().description.elements(), "");
  parts_.reset(new Parts{.what = std::move(what),
                         .element_bytes = element.bytes,
                         .groups = Groups(computation, lg_size, sizes.cache_bytes),
                         .cut = {},
                         .sweeps = {}});
  const work::Circumstances& c = frame().circumstances;
  const uint64_t usable = c.through_cache() ? c.buffers() : c.memory / 16 * 15;
  const bool in_place =
      computation.direction() == Direction::descend && computation.record_bytes() == element.bytes;
  parts_->cut = choose_cut(parts_->groups, usable, in_place, frame().options.threads, sizes);
  parts_->sweeps = sweeps_of(parts_->cut, computation.direction());
}

DescendJob::~DescendJob() = default;

uint64_t DescendJob::processors() const { return parts_->cut.processors(); }

uint64_t DescendJob::scratch_bytes() const { return parts_->needs_scratch() ? parts_->record_bytes() : 0; }

work::PassSummary DescendJob::Parts::pass(Sweep sweep) const {
  const uint64_t record = what->record_bytes();
  const bool between = sweep == Sweep::between_blocks;
  const uint64_t run = record << (between ? cut.lg_offsets : cut.lg_chunk);
  const uint64_t request = std::min(run, cut.request_bytes);
  return {.tiles = sweep == Sweep::within_blocks ? cut.chunks() : cut.tiles(),
          .tile_bytes = between ? run << (cut.lg_size - cut.lg_block) : run,
          .source_block_bytes = request,
          .target_block_bytes = request,
          .memory = sweep == Sweep::within_blocks ? cut.local_memory : cut.inter_node_memory};
}

std::vector<work::PassSummary> DescendJob::passes() const {
  const plan::Device& device = frame().options.device;
  std::vector<work::PassSummary> all;
  for (const Sweep sweep : parts_->sweeps) {
    work::PassSummary pass = parts_->pass(sweep);
    pass.bytes_read = all.empty() ? frame().input_bytes() : parts_->between_bytes();
    pass.bytes_written =
        all.size() + 1 == parts_->sweeps.size() ? frame().output.bytes : parts_->between_bytes();
    const uint64_t request = pass.source_block_bytes;
    pass.predicted_seconds = device.read_seconds((pass.bytes_read + request - 1) / request, request) +
                             device.write_seconds((pass.bytes_written + request - 1) / request, request);
    all.push_back(pass);
  }
  return all;
}

std::string DescendJob::describe() const {
  const Parts& p = *parts_;
  const Cut& cut = p.cut;
  const work::Summary all = summary();
  const uint64_t block = uint64_t{1} << cut.lg_block, records = uint64_t{1} << cut.lg_size;
  std::string text =
      fmt::format("{}: {} iterations on {} records of {} bytes, {} pass{}, {} of scratch disk\n",
                  p.what->direction() == Direction::descend ? "descend" : "ascend", cut.lg_size, records,
                  p.what->record_bytes(), all.passes.size(), all.passes.size() == 1 ? "" : "es",
                  size_text(all.scratch_bytes));
  text += fmt::format("{} virtual processor{} of {} records\n", cut.processors(),
                      cut.processors() == 1 ? "" : "s", block);
  for (std::size_t i = 0; i < all.passes.size(); ++i) {
    const work::PassSummary& pass = all.passes[i];
    std::string what = "all iterations, in memory";
    if (p.sweeps[i] == Sweep::between_blocks)
      what = fmt::format("iterations {} to {}, equal offsets in all blocks", cut.lg_block, cut.lg_size - 1);
    if (p.sweeps[i] == Sweep::within_blocks)
      what = fmt::format("iterations 0 to {}, along the blocks", cut.lg_block - 1);
    text += fmt::format("pass {}: {}; {} tiles of {} in requests of {}\n", i + 1, what, pass.tiles,
                        size_text(pass.tile_bytes), size_text(pass.source_block_bytes));
    text += fmt::format("        memory {}, about {:.3g} s on {}\n", size_text(pass.memory),
                        pass.predicted_seconds, all.device);
  }
  // schedule::Descend has this number of steps; making it takes memory for every record of a block.
  text += fmt::format(
      "for comparison: on a hypercube of {} nodes Hu's schedule takes 4(lg M + V - 1) = {} steps\n",
      cut.processors(), 4 * (static_cast<uint64_t>(cut.lg_size) + block - 1));
  return text;
}

void DescendJob::move(work::Run& run) {
  Parts& p = *parts_;
  const Cut& cut = p.cut;
  const std::stop_token stop = run.stop();
  p.groups.heed(stop);
  std::vector<Elements> inputs;
  for (std::size_t i = 0; i < frame().inputs.size(); ++i)
    inputs.push_back({run.source(i), frame().inputs[i].description.dtype.bytes});
  std::optional<io::File> scratch;
  if (p.needs_scratch()) scratch.emplace(run.scratch(p.record_bytes()));
  const Elements between{scratch ? io::Location{*scratch, 0} : run.target(), p.what->record_bytes()};

  task::Workers workers(cut.threads);
  const std::vector<work::PassSummary> passes = this->passes();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool first = i == 0, last = i + 1 == passes.size();
    run.begin(passes[i].bytes_read + passes[i].bytes_written, i + 1);
    RecordSource from =
        first ? RecordSource(*p.what, inputs, cut.request_bytes) : RecordSource(*p.what, between);
    RecordSink to = last ? RecordSink(*p.what, {run.target(), p.element_bytes}, cut.request_bytes)
                         : RecordSink(*p.what, between);
    run.with(workers, [&] {
      switch (p.sweeps[i]) {
        case Sweep::whole:
          return whole_sweep(p.groups, cut, from, to, stop);
        case Sweep::between_blocks:
          return inter_node_sweep(p.groups, cut, from, to, stop);
        case Sweep::within_blocks:
          return local_sweep(p.groups, cut, from, to, !first && !scratch, stop);
      }
    });
    p.what->check();
  }
}

}  // namespace xorder::descend
