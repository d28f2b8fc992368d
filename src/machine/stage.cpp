#include "machine/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "io/memory.hpp"

namespace xorder::machine {

void TileStage::run(io::Location source, io::Location target, const Environment& environment) {
  const auto scratch = [&](std::uint64_t bytes) { return environment.delivery.scratch(bytes); };
  engine_.run(source, target, scratch, environment.threads, environment.pass, environment.tracker,
              environment.report, environment.stop);
}

io::Access staged_access(const work::Options& options) {
  return options.engine == work::EngineChoice::mapped ? io::Access::mapped : io::Access::direct;
}

StagedWork::StagedWork(io::ArrayFile input, work::Destination output, work::Options options,
                       std::uint64_t memory, std::vector<std::unique_ptr<Stage>> stages)
    : input_(std::move(input)),
      output_(std::move(output)),
      options_(std::move(options)),
      memory_(memory),
      stages_(std::move(stages)) {
  work::check_delivery(output_, std::span(&input_, 1), options_);
}

work::Summary StagedWork::summary() const {
  work::Summary all{.bytes = output_.bytes,
                    .memory = memory_,
                    .device = options_.device.name,
                    .engine = staged_access(options_) == io::Access::mapped ? "mapped" : "direct",
                    .passes = {}};
  for (const auto& stage : stages_) stage->add_to(all);
  // The stages that are not the tile engine's read and write all of the data in large pieces.
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  const std::uint64_t pieces = (output_.bytes + piece - 1) / piece;
  for (work::PassSummary& pass : all.passes) {
    if (pass.predicted_seconds != 0) continue;
    pass.predicted_seconds =
        options_.device.read_seconds(pieces, piece) + options_.device.write_seconds(pieces, piece);
  }
  // Two files in turn lie between more than two stages.
  all.scratch_bytes += output_.bytes * std::min<std::uint64_t>(stages_.size() - 1, 2);
  return all;
}

std::string StagedWork::describe() const {
  std::string text;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    text += fmt::format("stage {} of {}: {}", i + 1, stages_.size(), stages_[i]->describe());
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

work::Report StagedWork::run(const work::ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  const io::Access access = staged_access(options_);
  work::Delivery delivery(output_, std::span(&input_, 1), access, access, options_, memory_);
  work::Report report;
  report.passes = summary().passes.size();
  work::Tracker tracker(output_.bytes, report.passes, progress);
  Environment environment{delivery, options_.threads, 1, tracker, report, stop};

  std::vector<io::File> scratch;
  for (std::size_t i = 1; i < std::min<std::size_t>(stages_.size(), 3); ++i) {
    scratch.push_back(delivery.scratch(output_.bytes));
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const io::Location source = i == 0 ? io::Location{delivery.source(), input_.description.offset}
                                       : io::Location{scratch[(i - 1) % 2], 0};
    const io::Location target = i + 1 == stages_.size()
                                    ? io::Location{delivery.target(), delivery.target_offset()}
                                    : io::Location{scratch[i % 2], 0};
    stages_[i]->run(source, target, environment);
    environment.pass += stages_[i]->passes();
  }
  if (report.engine.empty()) report.engine = access == io::Access::mapped ? "mapped" : "threads";
  if (report.access.empty()) report.access = name(delivery.target().access());
  delivery.commit(stop);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_memory = io::peak_resident_memory();
  return report;
}

}  // namespace xorder::machine
