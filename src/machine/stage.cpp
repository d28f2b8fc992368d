#include "machine/stage.hpp"
#include "text/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plan/price.hpp"
#include "text/count_text.hpp"
#include "work/resuming.hpp"

namespace xorder::machine {

plan::Setting setting_of(const work::Frame& frame, bool first, bool last) {
  plan::Setting setting = frame.setting.part(first, last);
  if (!first) setting.read_alignment = setting.write_alignment;
  // Other stages take a scratch file. Several passes of this one take a second, however many they are.
  if (setting.scratch_room / 2 < frame.output.bytes) setting.scratch_room = 0;
  return setting;
}

std::unique_ptr<Stage> tile_stage(const work::Frame& frame, const Reordering& what, bool first, bool last,
                                  std::string name) {
  return std::make_unique<TileStage>(tiles::TileEngine(what, setting_of(frame, first, last)),
                                     std::move(name));
}

work::Steps steps_of(const plan::PassSummary& pass, std::size_t number, std::uint64_t count) {
  return {number, count, pass.bytes_read + pass.bytes_written, pass.predicted_seconds, 1};
}

// The model of schedules is coarser than a profile, so no run is compared with what it predicts.
Job::Job(work::Frame frame) : Work((frame.disks.measured = false, std::move(frame))) {}

StagedWork::StagedWork(work::Frame frame, std::vector<std::unique_ptr<Stage>> stages)
    : Job(std::move(frame)), stages_(std::move(stages)) {
  work::require_memory_to_go_on(this->frame(), summary().peak_memory());
}

std::vector<work::PassSummary> StagedWork::passes() const {
  std::vector<work::PassSummary> all;
  for (const auto& stage : stages_) {
    std::ranges::copy(stage->passes(), std::back_inserter(all));
  }
  return all;
}

std::uint64_t StagedWork::scratch_bytes() const {
  return plan::scratch_files(passes().size()) * frame().output.bytes;
}

std::string StagedWork::describe() const {
  std::string text = fmt::format("{} of data, {}, {} of scratch disk\n", size_text(frame().output.bytes),
                                 count_text(stages_.size(), "stage"), size_text(scratch_bytes()));
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    text += fmt::format("stage {} of {}: {}", i + 1, stages_.size(), stages_[i]->describe());
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

std::optional<schedule::Traffic> StagedWork::forecast(const std::stop_token& stop) const {
  for (const auto& stage : stages_) {
    if (auto traffic = stage->forecast(stop)) return traffic;
  }
  return std::nullopt;
}

void StagedWork::move(work::Run& run) {
  const work::Relay relay(run, passes().size());
  std::size_t first = 0;
  std::string steps;
  for (const auto& stage : stages_) {
    stage->adopt_alignments(run, relay, first);
    first += stage->passes().size();
    steps += stage->steps() + "; ";
  }
  if (run.resumable()) run.begin_resumable(steps);
  first = 0;
  for (const auto& stage : stages_) {
    stage->move(run, relay, first);
    if (stage->traffic()) sent_ = stage->traffic();
    first += stage->passes().size();
    relay.finish(first - 1);
  }
}

}  // namespace xorder::machine
