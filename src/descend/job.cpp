#include "xorder/descend/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>

#include "descend/cut.hpp"
#include "descend/sweeps.hpp"
#include "io/memory.hpp"
#include "io/residency.hpp"
#include "size_text.hpp"
#include "task/workers.hpp"
#include "work/access.hpp"
#include "work/delivery.hpp"
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

}  // namespace

struct DescendJob::Parts {
  std::vector<io::ArrayFile> inputs;
  std::unique_ptr<Computation> what;
  uint64_t element_bytes;
  work::Destination output;
  work::Options options;
  Groups groups;
  Cut cut;
  uint64_t memory = 0;
  io::Access source_access = io::Access::direct, target_access = io::Access::direct;
  bool keep_cached = false;
  Counters counters;

  uint64_t input_bytes() const {
    uint64_t bytes = 0;
    for (const io::ArrayFile& input : inputs)
      bytes += input.description.elements() * input.description.dtype.bytes;
    return bytes;
  }
  uint64_t record_bytes() const { return what->record_bytes() << cut.lg_size; }
  bool two_sweeps() const { return cut.inter_node() && cut.local(); }
  bool needs_scratch() const { return two_sweeps() && what->record_bytes() != element_bytes; }
  bool descending() const { return what->direction() == Direction::descend; }
  uint64_t between_bytes() const { return two_sweeps() ? record_bytes() : 0; }

  void choose_access(uint64_t all_records);
  void sweeps(work::Delivery& delivery, const std::stop_token& stop);
};

// As for other jobs: what is in memory need not be read from the disk, and what is small stays there.
void DescendJob::Parts::choose_access(uint64_t all_records) {
  const bool fits = input_bytes() + output.bytes + 2 * all_records <= memory;
  const bool small = output.bytes <= io::small_file;
  const io::File probe = io::File::open_input(inputs.front().path, io::Access::buffered);
  keep_cached = fits && (small || io::mostly_cached(probe));
  if (options.engine == work::EngineChoice::mapped ||
      (options.engine == work::EngineChoice::automatic && fits && small)) {
    source_access = target_access = io::Access::mapped;
  } else if (options.engine == work::EngineChoice::automatic && keep_cached) {
    source_access = io::Access::buffered;
  }
}

void DescendJob::Parts::sweeps(work::Delivery& delivery, const std::stop_token& stop) {
  groups.heed(stop);
  std::vector<Elements> elements;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const io::ArrayDescription& array = inputs[i].description;
    elements.push_back({&delivery.source(i), array.offset, array.dtype.bytes});
  }
  RecordSource loaded(*what, elements, cut.request_bytes, counters);
  RecordSink stored(*what, {&delivery.target(), delivery.target_offset(), element_bytes}, cut.request_bytes,
                    counters);
  const auto sweep = [&](bool inter_node, RecordSource& from, RecordSink& to, bool in_place) {
    if (cut.in_memory()) {
      whole_sweep(groups, cut, from, to, stop);
    } else if (inter_node) {
      inter_node_sweep(groups, cut, from, to, stop);
    } else {
      local_sweep(groups, cut, from, to, in_place, stop);
    }
    what->check();
  };
  if (!two_sweeps()) return sweep(true, loaded, stored, false);
  std::optional<io::File> scratch;
  if (needs_scratch()) scratch.emplace(delivery.scratch(record_bytes()));
  const Elements between{scratch ? &*scratch : &delivery.target(), scratch ? 0 : delivery.target_offset(),
                         what->record_bytes()};
  RecordSink first(*what, between, counters);
  RecordSource second(*what, between, counters);
  sweep(descending(), loaded, first, false);
  sweep(!descending(), second, stored, !scratch);
}

DescendJob::DescendJob(std::vector<io::ArrayFile> inputs, std::unique_ptr<Computation> what,
                       io::DType element, std::vector<uint64_t> extents, std::filesystem::path output,
                       work::Options options, DescendSizes sizes) {
  const int lg_size = checked_lg(inputs, extents);
  work::Destination to = work::destination(std::move(output), inputs.front(), element, extents);
  Computation& computation = *what;
  parts_.reset(new Parts{.inputs = std::move(inputs),
                         .what = std::move(what),
                         .element_bytes = element.bytes,
                         .output = std::move(to),
                         .options = std::move(options),
                         .groups = Groups(computation, lg_size, sizes.cache_bytes),
                         .cut = {},
                         .counters = {}});
  Parts& p = *parts_;
  p.memory = work::effective_memory(p.options.memory);
  work::check_delivery(p.output, p.inputs, p.options);
  p.choose_access(computation.record_bytes() << lg_size);
  // Pages on their way through the page cache count too.
  const bool through_cache = p.target_access != io::Access::direct && !p.keep_cached;
  const uint64_t usable = through_cache ? p.memory / 4 * 3 : p.memory / 16 * 15;
  const bool in_place = p.descending() && computation.record_bytes() == p.element_bytes;
  p.cut = choose_cut(p.groups, usable, in_place, p.options.threads, sizes);
}

DescendJob::~DescendJob() = default;

uint64_t DescendJob::processors() const { return parts_->cut.processors(); }

work::Summary DescendJob::summary() const {
  const Parts& p = *parts_;
  const Cut& cut = p.cut;
  work::Summary all{.bytes = p.output.bytes,
                    .bytes_read = p.input_bytes() + p.between_bytes(),
                    .bytes_written = p.output.bytes + p.between_bytes(),
                    .scratch_bytes = p.needs_scratch() ? p.record_bytes() : 0,
                    .memory = p.memory,
                    .device = p.options.device.name,
                    .engine = p.source_access == io::Access::mapped ? "mapped" : "direct",
                    .passes = {}};
  const auto add = [&](bool inter_node) {
    const uint64_t record = p.what->record_bytes();
    const uint64_t run = record << (inter_node && !cut.in_memory() ? cut.lg_offsets : cut.lg_chunk);
    const uint64_t request = std::min(run, cut.request_bytes);
    const uint64_t tile = inter_node && !cut.in_memory() ? run << (cut.lg_size - cut.lg_block) : run;
    const auto requests = [&](uint64_t bytes) { return (bytes + request - 1) / request; };
    const bool first = all.passes.empty(), last = !first || !p.two_sweeps();
    const uint64_t read = first ? p.input_bytes() : p.between_bytes();
    const uint64_t written = last ? p.output.bytes : p.between_bytes();
    all.passes.push_back({.tiles = inter_node ? cut.tiles() : cut.chunks(),
                          .tile_bytes = tile,
                          .source_block_bytes = request,
                          .target_block_bytes = request,
                          .memory = inter_node ? cut.inter_node_memory : cut.local_memory,
                          .predicted_seconds = p.options.device.read_seconds(requests(read), request) +
                                               p.options.device.write_seconds(requests(written), request)});
  };
  if (!p.two_sweeps()) {
    add(true);
  } else {
    add(p.descending());
    add(!p.descending());
  }
  return all;
}

std::string DescendJob::describe() const {
  const Parts& p = *parts_;
  const Cut& cut = p.cut;
  const work::Summary all = summary();
  const uint64_t block = uint64_t{1} << cut.lg_block, records = uint64_t{1} << cut.lg_size;
  const char* const name = p.descending() ? "descend" : "ascend";
  std::string text =
      fmt::format("{}: {} iterations on {} records of {} bytes, {} pass{}, {} of scratch disk\n", name,
                  cut.lg_size, records, p.what->record_bytes(), all.passes.size(),
                  all.passes.size() == 1 ? "" : "es", size_text(all.scratch_bytes));
  text += fmt::format("{} virtual processor{} of {} records\n", cut.processors(),
                      cut.processors() == 1 ? "" : "s", block);
  for (std::size_t i = 0; i < all.passes.size(); ++i) {
    const work::PassSummary& pass = all.passes[i];
    const bool inter_node = !p.two_sweeps() || p.descending() == (i == 0);
    const std::string what =
        cut.in_memory() ? fmt::format("all iterations, in memory")
        : inter_node
            ? fmt::format("iterations {} to {}, equal offsets in all blocks", cut.lg_block, cut.lg_size - 1)
            : fmt::format("iterations 0 to {}, along the blocks", cut.lg_block - 1);
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

work::Report DescendJob::run(const work::ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  Parts& p = *parts_;
  const work::Summary plan = summary();
  work::Delivery delivery(p.output, p.inputs, p.source_access, p.target_access, p.options, p.memory);
  for (std::size_t i = 0; i < p.inputs.size(); ++i) delivery.source(i).set_keep_cached(p.keep_cached);
  delivery.target().set_keep_cached(p.keep_cached);

  task::Stopping stopping(std::move(stop));
  task::Workers workers(p.cut.threads);
  work::Progress state{0, plan.bytes_read + plan.bytes_written, 1, plan.passes.size()};
  workers.run([&] { p.sweeps(delivery, stopping.token()); },
              [&] {
                const uint64_t moved = p.counters.bytes_read + p.counters.bytes_written;
                state.bytes_done = std::min(std::max(moved, state.bytes_done), state.bytes_total);
                if (plan.passes.size() > 1 && moved > p.input_bytes() + p.between_bytes()) state.pass = 2;
                if (progress) progress(state);
              },
              stopping);
  delivery.commit(stopping.token());
  if (progress) {
    progress({plan.bytes_read + plan.bytes_written, plan.bytes_read + plan.bytes_written, plan.passes.size(),
              plan.passes.size()});
  }

  work::Report report{
      .passes = plan.passes.size(),
      .engine = p.source_access == io::Access::mapped ? "mapped" : "threads",
      .access = name(delivery.target().access()),
      .note = work::fallback_note(delivery.source(), p.source_access, delivery.target(), p.target_access),
      .bytes_read = p.counters.bytes_read,
      .bytes_written = p.counters.bytes_written,
      .reads = p.counters.reads,
      .writes = p.counters.writes,
      .seconds = 0,
      .peak_memory = io::peak_resident_memory(),
      .traffic = {}};
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace xorder::descend
