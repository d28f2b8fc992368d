// One run of a Work, while it lasts: the files, and what has become of them so far.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "task/workers.hpp"
#include "work/delivery.hpp"
#include "work/meter.hpp"

namespace xorder::work {

/// Used by the thread that called Work::run(), but for stop() and what is const.
class Run {
 public:
  /// Opens the files (Delivery).
  Run(const Frame& frame, const Summary& plan, const ProgressCallback& progress, std::stop_token stop);
  ~Run();

  const Frame& frame() const { return frame_; }
  io::Location source(std::size_t input = 0);
  io::Location target();
  /// A file for what lies between two passes.
  io::File scratch(std::uint64_t bytes) const { return delivery_.scratch(bytes); }
  /// A queue of the kind that suits the files.
  std::unique_ptr<io::Queue> queue(unsigned depth);

  std::stop_token stop() const { return stopping_.token(); }
  /// The processes that do this together, or nullptr. The constructor and finish() are collective then.
  Team* team() const { return frame_.options.team; }
  /// Those that make one file together, or nullptr.
  Team* sharing() const { return frame_.sharing(); }
  /// The next part of the data begins, in this pass (from 1): so many bytes will be read and written, by this
  /// process.
  void begin(std::uint64_t bytes, std::size_t pass);
  /// Tells the caller of Work::run() how far it has come.
  void tick();
  /// Something for the report: what was asked for and could not be had. The first counts.
  void say(const std::string& note);
  /// Runs `body` among the workers, and tick() meanwhile; if there is something else for this thread to do,
  /// that first.
  void with(task::Workers& workers, const std::function<void()>& body,
            const std::function<void()>& meanwhile = {});

  /// What crossed the network of a schedule, if one was run.
  std::optional<Traffic> traffic;

  /// Gives the output its name. Throws Cancelled, and IoError if an input has changed.
  Report finish();

 private:
  const Frame& frame_;
  task::Stopping stopping_;
  Meter meter_;
  Delivery delivery_;
  ProgressCallback callback_;
  Progress progress_;
  std::uint64_t before_ = 0, part_ = 0;  // bytes of the parts that are over, and of this one
  std::uint64_t moved_before_ = 0;       // what the meter said when this part began
  std::string engine_;
  std::string note_;
};

}  // namespace xorder::work
