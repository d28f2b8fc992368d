#include "band/transposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "band/band_pass.hpp"
#include "band/input.hpp"
#include "plan/setting.hpp"
#include "run/executor.hpp"
#include "work/frame.hpp"
#include "work/resuming.hpp"
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

uint64_t steps_of(const plan::BandPart& part) {
  return std::visit([](const auto& plan) { return steps(plan); }, part.plan);
}

class BandTransposition final : public work::Work {
 public:
  BandTransposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands, std::filesystem::path output,
                    work::Options options, const plan::BandTiling& tiling)
      : Work(frame_of(std::move(inputs), bands, std::move(output), std::move(options), files_in_memory)),
        bands_(std::move(bands)),
        tiling_(tiling),
        setting_(frame().setting) {
    setting_.memory = setting_.buffers() - waiting_memory(setting_);
    parts_ = plans_for(frame().inputs, bands_, setting_, tiling_);
    work::require_memory_to_go_on(frame(), passes().front().memory + waiting_memory(frame().setting));
  }

  std::string describe() const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  void move(work::Run& run) override;
  void adopt_alignments(work::Run& run);

  std::vector<Band> bands_;
  plan::BandTiling tiling_;
  plan::Setting setting_;  // without the memory of blocks that wait
  std::vector<plan::BandPart> parts_;
};

std::vector<work::PassSummary> BandTransposition::passes() const {
  work::PassSummary all = plan::pass(parts_.front().plan);
  for (std::size_t p = 1; p < parts_.size(); ++p) all += plan::pass(parts_[p].plan);
  return {all};
}

// Describes neighbours that are alike once.
std::string BandTransposition::describe() const {
  std::string text;
  auto part = parts_.begin();
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
  if (work::adopt_alignments(setting_, sources, targets, nullptr))
    parts_ = plans_for(frame().inputs, bands_, setting_, tiling_);
}

void BandTransposition::move(work::Run& run) {
  adopt_alignments(run);
  const io::Location target = run.target();
  uint64_t most = 0, count = 0;
  for (const plan::BandPart& part : parts_) {
    most = std::max(most, plan::pass(part.plan).memory);
    count += steps_of(part);
  }
  task::Workers workers(frame().options.threads);
  run.say(workers.note());
  const auto queue = run.queue(2 * frame().disks.target.depth);
  io::BlockMemory memory(most + more_memory);
  const run::Environment environment{memory, workers, [&] { run.tick(); }, run.stop()};
  // Steps are numbered through all parts.
  const auto perform = [&](uint64_t first, uint64_t end) {
    io::Carry carry(target.offset, target.offset + frame().output.bytes, setting_.write_alignment,
                    waiting_memory(frame().setting));
    std::size_t matrix = 0;
    uint64_t at = 0, step = 0;  // bytes and steps of the parts before
    for (const plan::BandPart& part : parts_) {
      const uint64_t next = step + steps_of(part);
      if (first < next && end > step) {
        const StepRange range{std::max(first, step) - step, std::min(end, next) - step};
        const Route route{run.source_at(at), {target.file, target.offset + at}};
        const auto band_pass = std::visit(
            [&](const auto& plan) { return make_pass(plan, range, route, memory.data()); }, part.plan);
        run::execute(*band_pass, carry, *queue, environment);
      }
      step = next;
      at += part.matrices * bands_[matrix].places() * frame().input().description.dtype.bytes;
      matrix += part.matrices;
    }
    io::write_parts(target.file, carry.take_rest());
  };
  const plan::PassSummary pass = passes().front();
  if (run.resumable())
    run.begin_resumable(fmt::format("{}{} steps by {} and {}\n", describe(), count, setting_.read_alignment,
                                    setting_.write_alignment));
  run.perform({0, count, pass.bytes_read + pass.bytes_written, pass.predicted_seconds}, target.file, perform);
}

}  // namespace

std::unique_ptr<work::Work> transposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands,
                                          std::filesystem::path output, work::Options options) {
  return transposition(std::move(inputs), std::move(bands), std::move(output), std::move(options), {});
}

std::unique_ptr<work::Work> transposition(std::vector<io::ArrayFile> inputs, std::vector<Band> bands,
                                          std::filesystem::path output, work::Options options,
                                          const plan::BandTiling& tiling) {
  return std::make_unique<BandTransposition>(std::move(inputs), std::move(bands), std::move(output),
                                             std::move(options), tiling);
}

}  // namespace xorder::band
