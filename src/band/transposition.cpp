#include "xorder/band/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "band/input.hpp"
#include "band/mover.hpp"
#include "plan/band_plan.hpp"
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

struct BandTransposition::Planned {
  plan::BandTiling given;
  plan::BandPlan plan;
};

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options)
    : BandTransposition(std::move(input), band, std::move(output), std::move(options), plan::BandTiling()) {}

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options, const plan::BandTiling& tiling)
    : Work(framed(std::move(input), band, std::move(output), std::move(options))), band_(band) {
  const work::Circumstances& wanted = frame().circumstances;
  const uint64_t memory = wanted.buffers();
  const plan::BandConditions conditions{.memory = memory - waiting_memory(memory),
                                        .source_offset = wanted.source_offset,
                                        .target_offset = wanted.target_offset,
                                        .read_alignment = wanted.read_alignment,
                                        .write_alignment = wanted.target == io::Access::direct ? 4096u : 1u,
                                        .device = frame().options.device};
  planned_ = std::make_unique<Planned>(
      Planned{tiling, plan::plan_band(band, frame().input().description.dtype.bytes, conditions, tiling)});
}

BandTransposition::~BandTransposition() = default;

std::vector<work::PassSummary> BandTransposition::passes() const { return {plan::pass(planned_->plan)}; }

std::string BandTransposition::describe() const {
  return fmt::format(
      "the transposition of a {} x {} {}band of {} + 1 + {} diagonals, {} bytes each element\n{}", band_.n,
      band_.n, band_.cyclic ? "cyclic " : "", band_.lower, band_.upper,
      frame().input().description.dtype.bytes, plan::describe(planned_->plan));
}

// The files may demand larger blocks than was assumed before they were open; then it is planned anew.
void BandTransposition::adopt_alignments(const io::File& source, const io::File& target) {
  plan::BandConditions conditions = plan::conditions(planned_->plan);
  const auto larger = [](uint64_t planned, uint64_t one, uint64_t other) {
    return std::max({planned, one, other});
  };
  const uint64_t read =
      larger(conditions.read_alignment, source.offset_alignment(), source.memory_alignment());
  const uint64_t write =
      larger(conditions.write_alignment, target.write_alignment(), target.memory_alignment());
  if (read == conditions.read_alignment && write == conditions.write_alignment) return;
  conditions.read_alignment = read;
  conditions.write_alignment = write;
  planned_->plan =
      plan::plan_band(band_, frame().input().description.dtype.bytes, conditions, planned_->given);
}

void BandTransposition::move(work::Run& run) {
  const io::Location source = run.source(), target = run.target();
  adopt_alignments(source.file, target.file);
  const plan::PassSummary pass = plan::pass(planned_->plan);
  BlockWriter writer(target.file, target.offset, target.offset + frame().output.bytes,
                     plan::conditions(planned_->plan).write_alignment, waiting_memory(frame().memory()));
  const auto mover = std::visit([](const auto& plan) { return make_mover(plan); }, planned_->plan);
  const bool uring = work::engine_for(source.file, target.file) == io::Engine::uring;
  run.begin(pass.bytes_read + pass.bytes_written, 1);
  run_lanes(mover->steps(source, target, writer), mover->lanes(), uring ? most_depth : most_depth / 4, run);
}

}  // namespace xorder::band
