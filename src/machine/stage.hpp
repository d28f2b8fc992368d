// Runs in several passes of different kinds: stages, each from one file to the next.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tiles/pipeline.hpp"
#include "tiles/tile_engine.hpp"
#include "work/delivery.hpp"
#include "work/tracker.hpp"

namespace xorder::machine {

/// What a stage runs in.
struct Environment {
  const work::Delivery& delivery;
  unsigned threads;
  std::size_t pass;  ///< the number of the stage's first pass
  work::Tracker& tracker;
  work::Report& report;
  std::stop_token stop;
};

class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::size_t passes() const { return 1; }
  virtual void add_to(work::Summary& all) const = 0;
  /// A few words for people.
  virtual std::string describe() const = 0;
  virtual void run(io::Location source, io::Location target, const Environment& environment) = 0;
};

/// The tile engine as a stage.
class TileStage final : public Stage {
 public:
  TileStage(tiles::TileEngine engine, std::string what)
      : engine_(std::move(engine)), what_(std::move(what)) {}
  std::size_t passes() const override { return engine_.plan().passes.size(); }
  void add_to(work::Summary& all) const override { engine_.add_to(all); }
  std::string describe() const override { return what_ + ", by tiles:\n" + engine_.plan().describe(); }
  void run(io::Location source, io::Location target, const Environment& environment) override;

 private:
  tiles::TileEngine engine_;
  std::string what_;
};

/// How the files of a staged run are accessed: all in the same way.
io::Access staged_access(const work::Options& options);

class StagedWork final : public work::Work {
 public:
  /// At least one stage. Throws InputError if the output could not be made.
  StagedWork(io::ArrayFile input, work::Destination output, work::Options options, std::uint64_t memory,
             std::vector<std::unique_ptr<Stage>> stages);

  work::Summary summary() const override;
  std::string describe() const override;
  work::Report run(const work::ProgressCallback& progress = {}, std::stop_token stop = {}) override;

 private:
  io::ArrayFile input_;
  work::Destination output_;
  work::Options options_;
  std::uint64_t memory_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace xorder::machine
