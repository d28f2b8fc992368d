#include "xorder/band/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "band/band_pass.hpp"
#include "band/input.hpp"
#include "plan/bands/band_plan.hpp"
#include "plan/setting.hpp"
#include "run/executor.hpp"
#include "work/frame.hpp"
#include "work/run.hpp"

namespace xorder::band {
namespace {

using std::uint64_t;

/// The part of the memory for blocks that wait for their other part.
uint64_t waiting_memory(const plan::Setting& setting) { return setting.buffers() / 8; }

constexpr uint64_t files_in_memory = 2;  // the input and the output

std::vector<plan::BandPart> plans_for(const std::vector<io::ArrayFile>& inputs,
                                      const std::vector<Band>& bands, plan::Setting here,
                                      const plan::BandTiling& tiling) {
  std::vector<plan::BandPart> parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    here.source_offset = inputs[i].description.offset;
    std::ranges::move(
        plan::plan_bands(bands_in(i, inputs.size(), bands), inputs[i].description.dtype.bytes, here, tiling),
        std::back_inserter(parts));
    here.target_offset += inputs[i].description.bytes();
  }
  return parts;
}

}  // namespace

struct BandTransposition::Planned {
  plan::BandTiling given;
  plan::Setting setting;  // without the memory of blocks that wait
  std::vector<plan::BandPart> parts;
};

BandTransposition::BandTransposition(io::ArrayFile input, const Band& band, std::filesystem::path output,
                                     work::Options options)
    : BandTransposition(std::vector{std::move(input)}, std::vector{band}, std::move(output),
                        std::move(options)) {}

BandTransposition::BandTransposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands,
                                     std::filesystem::path output, work::Options options)
    : BandTransposition(std::move(inputs), std::move(bands), std::move(output), std::move(options),
                        plan::BandTiling()) {}

BandTransposition::BandTransposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands,
                                     std::filesystem::path output, work::Options options,
                                     const plan::BandTiling& tiling)
    : Work(frame_of(std::move(inputs), bands, std::move(output), std::move(options), files_in_memory)),
      bands_(std::move(bands)) {
  plan::Setting setting = frame().setting;
  setting.memory = setting.buffers() - waiting_memory(setting);
  planned_ =
      std::make_unique<Planned>(Planned{tiling, setting, plans_for(frame().inputs, bands_, setting, tiling)});
}

BandTransposition::~BandTransposition() = default;

std::vector<work::PassSummary> BandTransposition::passes() const {
  work::PassSummary all = plan::pass(planned_->parts.front().plan);
  for (std::size_t p = 1; p < planned_->parts.size(); ++p) all += plan::pass(planned_->parts[p].plan);
  return {all};
}

// Describes neighbours that are alike once.
std::string BandTransposition::describe() const {
  std::string text;
  auto part = planned_->parts.begin();
  for (std::size_t m = 0, next = 0; m < bands_.size(); m = next) {
    const Band& band = bands_[m];
    while (next < bands_.size() && bands_[next] == band) ++next;
    const std::string count =
        next - m == 1 ? "the transposition" : fmt::format("{} times the transposition", next - m);
    text += fmt::format("{} of a {} x {} {}band of {} + 1 + {} diagonals, {} bytes each element\n{}", count,
                        band.n, band.n, band.cyclic ? "cyclic " : "", band.lower, band.upper,
                        frame().input().description.dtype.bytes, plan::describe(part->plan));
    for (std::size_t described = m; described < next; ++part) described += part->matrices;
  }
  return text;
}

// Makes the plans again if the files need larger alignments than were assumed.
void BandTransposition::adopt_alignments(work::Run& run) {
  std::vector<io::Location> sources;
  for (std::size_t i = 0; i < frame().inputs.size(); ++i) sources.push_back(run.source(i));
  const std::vector<io::Location> targets{run.target()};
  if (work::adopt_alignments(planned_->setting, sources, targets, nullptr))
    planned_->parts = plans_for(frame().inputs, bands_, planned_->setting, planned_->given);
}

void BandTransposition::move(work::Run& run) {
  adopt_alignments(run);
  const io::Location target = run.target();
  const plan::PassSummary pass = passes().front();
  run.begin(pass.bytes_read + pass.bytes_written, 1);
  io::Carry carry(target.file, target.offset, target.offset + frame().output.bytes,
                  planned_->setting.write_alignment, waiting_memory(frame().setting));
  uint64_t most = 0;
  for (const plan::BandPart& part : planned_->parts) most = std::max(most, plan::pass(part.plan).memory);
  task::Workers workers(frame().options.threads);
  run.say(workers.note());
  const auto queue = run.queue(2 * frame().disks.target.depth);
  io::BlockMemory memory(most + more_memory);
  const run::Environment environment{memory, workers, [&] { run.tick(); }, run.stop()};
  std::size_t matrix = 0;
  uint64_t done = 0;  // bytes of the parts before
  for (const plan::BandPart& part : planned_->parts) {
    const Route route{run.source_at(done), {target.file, target.offset + done}};
    const auto band_pass =
        std::visit([&](const auto& plan) { return make_pass(plan, route, memory.data()); }, part.plan);
    run::execute(*band_pass, carry, *queue, environment);
    done += part.matrices * bands_[matrix].places() * frame().input().description.dtype.bytes;
    matrix += part.matrices;
  }
}

}  // namespace xorder::band
