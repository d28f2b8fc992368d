#include "xorder/band/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "band/band_pass.hpp"
#include "band/input.hpp"
#include "work/frame.hpp"
#include "work/run.hpp"

namespace xorder::band {
namespace {

using std::uint64_t;

constexpr unsigned most_depth = 32;

/// Of the memory: for blocks that wait for their other part.
uint64_t waiting_memory(uint64_t memory) { return memory / 8; }

work::Frame framed(io::ArrayFile input, const Band& band, std::filesystem::path output,
                   work::Options options) {
  check_input(input, band);
  const io::DType dtype = input.description.dtype;
  return work::settle({std::move(input)}, std::move(output), dtype, band.transposed().extents(),
                      std::move(options), 2 * band.places() * dtype.bytes);
}

}  // namespace

struct BandTransposition::State {
  plan::BandTiling tiling;
  std::unique_ptr<Pass> planned;
};

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options)
    : BandTransposition(std::move(input), band, std::move(output), std::move(options), plan::BandTiling()) {}

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options, const plan::BandTiling& tiling)
    : Work(framed(std::move(input), band, std::move(output), std::move(options))),
      band_(band),
      state_(std::make_unique<State>()) {
  state_->tiling = tiling;
  const work::Circumstances& wanted = frame().circumstances;
  state_->planned = pass(wanted.read_alignment, wanted.target == io::Access::direct ? 4096 : 1);
}

BandTransposition::~BandTransposition() = default;

std::unique_ptr<BandTransposition::Pass> BandTransposition::pass(uint64_t read_alignment,
                                                                 uint64_t write_alignment) const {
  const work::Circumstances& wanted = frame().circumstances;
  const uint64_t memory = wanted.buffers();
  const plan::BandConditions conditions{.memory = memory - waiting_memory(memory),
                                        .source_offset = wanted.source_offset,
                                        .target_offset = wanted.target_offset,
                                        .read_alignment = read_alignment,
                                        .write_alignment = write_alignment};
  const auto make = band_.order == BandOrder::columns ? make_strips_pass : make_shifts_pass;
  return make(band_, frame().input().description.dtype.bytes, conditions, state_->tiling);
}

std::vector<work::PassSummary> BandTransposition::passes() const {
  const auto& device = frame().options.device;
  work::PassSummary pass = state_->planned->summary();
  pass.bytes_read = state_->planned->bytes_read();
  pass.bytes_written = frame().output.bytes;
  const auto requests = [](uint64_t bytes, uint64_t block) {
    return block == 0 ? 0 : (bytes + block - 1) / block;
  };
  const uint64_t read = std::min<uint64_t>(pass.source_block_bytes, device.largest_useful_request());
  const uint64_t written = std::min<uint64_t>(pass.target_block_bytes, device.largest_useful_request());
  pass.predicted_seconds = device.read_seconds(requests(pass.bytes_read, read), read) +
                           device.write_seconds(requests(pass.bytes_written, written), written);
  return {pass};
}

std::string BandTransposition::describe() const {
  return fmt::format(
      "the transposition of a {} x {} {}band of {} + 1 + {} diagonals, {} bytes each element\n{}", band_.n,
      band_.n, band_.cyclic ? "cyclic " : "", band_.lower, band_.upper,
      frame().input().description.dtype.bytes, state_->planned->describe());
}

void BandTransposition::move(work::Run& run) {
  const io::Location source = run.source(), target = run.target();
  // The output may demand larger blocks than was assumed before it existed.
  const uint64_t write_alignment = std::max(target.file.write_alignment(), target.file.memory_alignment());
  const auto pass =
      this->pass(std::max(source.file.offset_alignment(), source.file.memory_alignment()), write_alignment);
  BlockWriter writer(target.file, target.offset, target.offset + frame().output.bytes, write_alignment,
                     waiting_memory(frame().memory()));
  const bool uring = work::engine_for(source.file, target.file) == io::Engine::uring;
  run.begin(pass->bytes_read() + frame().output.bytes, 1);
  run_lanes(pass->steps(source, target, writer), pass->lanes(), uring ? most_depth : most_depth / 4, run);
}

}  // namespace xorder::band
