#include "machine/stage.hpp"
#include "size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "count_text.hpp"

namespace xorder::machine {

work::Circumstances circumstances(const work::Frame& frame, bool first, bool last) {
  work::Circumstances c = frame.circumstances;
  if (!first) {
    c.source = c.target;
    c.source_offset = 0;
    c.read_alignment = c.target == io::Access::direct ? plan::file_block : 1;
  }
  if (!last) c.target_offset = 0;
  return c;
}

std::unique_ptr<Stage> tile_stage(const work::Frame& frame, const Reordering& what, bool first, bool last,
                                  std::string name) {
  return std::make_unique<TileStage>(
      tiles::TileEngine(what, circumstances(frame, first, last), frame.options.device), std::move(name));
}

StagedWork::StagedWork(work::Frame frame, std::vector<std::unique_ptr<Stage>> stages)
    : Work(std::move(frame)), stages_(std::move(stages)) {}

std::vector<work::PassSummary> StagedWork::passes() const {
  std::vector<work::PassSummary> all;
  for (const auto& stage : stages_) {
    std::ranges::copy(stage->passes(), std::back_inserter(all));
  }
  return all;
}

std::uint64_t StagedWork::scratch_bytes() const {
  // More than two stages use two scratch files in turn.
  std::uint64_t bytes = frame().output.bytes * std::min<std::uint64_t>(stages_.size() - 1, 2);
  for (const auto& stage : stages_) bytes += stage->scratch_bytes();
  return bytes;
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

std::optional<work::Traffic> StagedWork::forecast(const std::stop_token& stop) const {
  if (!frame().options.link_times) return std::nullopt;
  for (const auto& stage : stages_) {
    if (auto traffic = stage->forecast(*frame().options.link_times, stop)) return traffic;
  }
  return std::nullopt;
}

void StagedWork::move(work::Run& run) {
  std::vector<io::File> scratch;
  for (std::size_t i = 1; i < std::min<std::size_t>(stages_.size(), 3); ++i)
    scratch.push_back(run.scratch(frame().output.bytes));
  std::size_t pass = 1;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const io::Location source = i == 0 ? run.source() : io::Location{scratch[(i - 1) % 2], 0};
    const io::Location target = i + 1 == stages_.size() ? run.target() : io::Location{scratch[i % 2], 0};
    stages_[i]->move(run, source, target, pass);
    if (i + 1 < stages_.size()) target.file.finish_writing();
    pass += stages_[i]->passes().size();
  }
}

}  // namespace xorder::machine
