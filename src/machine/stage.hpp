// Runs that consist of stages of different kinds, each from one file to the next.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tiles/tile_engine.hpp"
#include "work/frame.hpp"
#include "work/relay.hpp"
#include "work/run.hpp"
#include "xorder/machine/job.hpp"

namespace xorder::machine {

/// Sends something if virtual processors do it.
class Stage : public schedule::Sender {
 public:
  virtual std::vector<plan::PassSummary> passes() const = 0;
  /// A few words for people.
  virtual std::string describe() const = 0;
  /// All that decides which bytes a step of its passes has, as text.
  virtual std::string steps() const = 0;
  /// To be called before move(). Plans again if the files need larger alignments than were assumed.
  virtual void adopt_alignments(const work::Run&, const work::Relay&, std::size_t /*first*/) {}
  /// Performs its passes, those of the relay from `first` on. Leaves Relay::finish() of the last one
  /// to the caller.
  virtual void move(work::Run& run, const work::Relay& relay, std::size_t first) = 0;
};

/// The files that the page cache has to hold at once, if there is one scratch file.
inline constexpr std::uint64_t files_in_memory = 3;

/// What a stage is planned for. The first one reads the input, the last one writes the output; the others
/// read and write scratch files.
plan::Setting setting_of(const work::Frame& frame, bool first, bool last);

/// A pass whose steps are few and long, each for most of the memory.
work::Steps steps_of(const plan::PassSummary& pass, std::size_t number, std::uint64_t count);

/// The tile engine as a stage.
class TileStage final : public Stage {
 public:
  TileStage(tiles::TileEngine engine, std::string what)
      : engine_(std::move(engine)), what_(std::move(what)) {}
  std::vector<plan::PassSummary> passes() const override { return engine_.passes(); }
  std::string describe() const override { return what_ + ", by tiles:\n" + engine_.plan().describe_part(); }
  std::string steps() const override { return engine_.steps(); }
  void adopt_alignments(const work::Run& run, const work::Relay& relay, std::size_t first) override {
    engine_.adopt_alignments(run, relay, {first, first + engine_.plan().passes.size()});
  }
  void move(work::Run& run, const work::Relay& relay, std::size_t first) override {
    engine_.run(run, relay, {first, first + engine_.plan().passes.size()});
  }

 private:
  tiles::TileEngine engine_;
  std::string what_;
};

/// Plans a TileStage for its setting.
std::unique_ptr<Stage> tile_stage(const work::Frame& frame, const Reordering& what, bool first, bool last,
                                  std::string name);

class StagedWork final : public Job {
 public:
  /// Requires at least one stage.
  StagedWork(work::Frame frame, std::vector<std::unique_ptr<Stage>> stages);

  std::string describe() const override;
  std::optional<schedule::Traffic> forecast(const std::stop_token& stop) const override;

 private:
  std::vector<work::PassSummary> passes() const override;
  std::uint64_t scratch_bytes() const override;
  void move(work::Run& run) override;

  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace xorder::machine
