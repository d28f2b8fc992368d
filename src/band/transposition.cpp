#include "xorder/band/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "band/band_pass.hpp"
#include "band/input.hpp"
#include "io/memory.hpp"
#include "work/access.hpp"
#include "work/delivery.hpp"
#include "work/tracker.hpp"
#include "xorder/error.hpp"

namespace xorder::band {
namespace {

using std::uint64_t;

constexpr unsigned most_depth = 32;

/// Of the memory: for blocks that wait for their other part.
uint64_t waiting_memory(uint64_t memory) { return memory / 8; }

}  // namespace

struct BandTransposition::State {
  work::Destination to;
  work::Circumstances wanted;
  plan::BandTiling tiling;
  std::unique_ptr<Pass> planned;
};

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options)
    : BandTransposition(std::move(input), band, std::move(output), std::move(options), plan::BandTiling()) {}

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options, const plan::BandTiling& tiling)
    : input_(std::move(input)), band_(band), options_(std::move(options)), state_(std::make_unique<State>()) {
  state_->tiling = tiling;
  check_input(input_, band_);
  const uint64_t memory = work::effective_memory(options_.memory);
  state_->to =
      work::destination(std::move(output), input_, input_.description.dtype, band_.transposed().extents());
  work::check_delivery(state_->to, std::span(&input_, 1), options_);
  state_->wanted = work::circumstances(input_, state_->to, options_, memory);
  state_->planned =
      pass(state_->wanted.read_alignment, state_->wanted.target == io::Access::direct ? 4096 : 1);
}

BandTransposition::~BandTransposition() = default;

std::unique_ptr<BandTransposition::Pass> BandTransposition::pass(uint64_t read_alignment,
                                                                 uint64_t write_alignment) const {
  const work::Circumstances& wanted = state_->wanted;
  const uint64_t memory = wanted.through_cache() ? wanted.memory / 4 * 3 : wanted.memory;
  const plan::BandConditions conditions{.memory = memory - waiting_memory(memory),
                                        .source_offset = wanted.source_offset,
                                        .target_offset = wanted.target_offset,
                                        .read_alignment = read_alignment,
                                        .write_alignment = write_alignment};
  const auto make = band_.order == BandOrder::columns ? make_strips_pass : make_shifts_pass;
  return make(band_, input_.description.dtype.bytes, conditions, state_->tiling);
}

work::Summary BandTransposition::summary() const {
  const auto& device = options_.device;
  work::Summary all{.bytes = state_->to.bytes,
                    .bytes_read = state_->planned->bytes_read(),
                    .bytes_written = state_->to.bytes,
                    .memory = state_->wanted.memory,
                    .device = device.name,
                    .engine = state_->wanted.mapped() ? "mapped" : "direct",
                    .passes = {state_->planned->summary()}};
  work::PassSummary& pass = all.passes.front();
  const auto requests = [](uint64_t bytes, uint64_t block) {
    return block == 0 ? 0 : (bytes + block - 1) / block;
  };
  const uint64_t read = std::min<uint64_t>(pass.source_block_bytes, device.largest_useful_request());
  const uint64_t written = std::min<uint64_t>(pass.target_block_bytes, device.largest_useful_request());
  pass.predicted_seconds = device.read_seconds(requests(all.bytes_read, read), read) +
                           device.write_seconds(requests(all.bytes_written, written), written);
  return all;
}

std::string BandTransposition::describe() const {
  return fmt::format(
      "the transposition of a {} x {} {}band of {} + 1 + {} diagonals, {} bytes each element\n{}", band_.n,
      band_.n, band_.cyclic ? "cyclic " : "", band_.lower, band_.upper, input_.description.dtype.bytes,
      state_->planned->describe());
}

work::Report BandTransposition::run(const work::ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  const work::Circumstances& wanted = state_->wanted;
  work::Delivery delivery(state_->to, std::span(&input_, 1), wanted.source, wanted.target, options_,
                          wanted.memory);
  io::File& source = delivery.source();
  io::File& target = delivery.target();
  source.set_keep_cached(wanted.keep_cached);
  target.set_keep_cached(wanted.keep_cached);

  // The output may demand larger blocks than was assumed before it existed.
  const uint64_t write_alignment = std::max(target.write_alignment(), target.memory_alignment());
  const auto pass =
      this->pass(std::max(source.offset_alignment(), source.memory_alignment()), write_alignment);
  const uint64_t offset = delivery.target_offset();
  BlockWriter writer(target, offset, offset + state_->to.bytes, write_alignment,
                     waiting_memory(wanted.memory));
  const LaneOptions lanes{
      .lanes = pass->lanes(),
      .engine = work::engine_for(source, target),
      .depth = work::engine_for(source, target) == io::Engine::uring ? most_depth : most_depth / 4,
      .threads = options_.threads};
  work::Report report;
  work::tell_access(source, target, wanted, lanes.engine, report);
  work::Tracker tracker(state_->to.bytes, 1, progress);
  tracker.begin(state_->to.bytes, 1);
  const Lane::Counters counters = run_lanes(
      pass->steps({source, input_.description.offset}, {target, offset}, writer), lanes,
      [&](uint64_t bytes) { tracker.show(bytes); }, stop);
  delivery.commit(stop);

  report.passes = 1;
  report.engine = name(lanes.engine);
  report.bytes_read = counters.bytes_read;
  report.bytes_written = counters.bytes_written;
  report.reads = counters.reads;
  report.writes = counters.writes;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_memory = io::peak_resident_memory();
  return report;
}

}  // namespace xorder::band
