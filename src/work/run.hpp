// A run of a Work in progress: its files, counts and progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "task/workers.hpp"
#include "work/delivery.hpp"
#include "work/meter.hpp"

namespace xorder::work {

/// A pass as a run performs it: in steps, in order.
struct Steps {
  std::size_t pass = 0;  ///< counted from 0
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< that this process reads and writes for all of them, together
  double seconds = 0;       ///< predicted, for all of them
  /// A part of a resumable pass has at least so many steps: a part begins when the one before has ended,
  /// which costs about half of the time of a step where reads and writes go on at the same time.
  std::uint64_t least_part = 16;
};

/// For the thread that called Work::run(). Other threads may call stop() and the other const functions.
class Run {
 public:
  /// Opens the files (Delivery).
  Run(const Frame& frame, const Summary& plan, const ProgressCallback& progress, std::stop_token stop);
  ~Run();

  const Frame& frame() const { return frame_; }
  io::Location source(std::size_t input = 0) const;
  /// All of them that have elements.
  std::vector<io::Location> sources() const;
  /// Where byte `at` of the inputs lies, if their data follow one another. Requires at < input_bytes().
  io::Location source_at(std::uint64_t at) const;
  /// If the output has several files, the first of them.
  io::Location target();
  /// All of them, if it has several; otherwise nullptr.
  io::OutputFiles* parts() { return delivery_.parts(); }
  /// Makes a file for the data between two passes.
  io::File scratch(std::uint64_t bytes) { return delivery_.scratch(bytes); }
  /// Makes a queue of the kind that suits the files.
  std::unique_ptr<io::Queue> queue(unsigned depth);

  std::stop_token stop() const { return stopping_.token(); }
  /// The processes that run this together, or nullptr. In a team the constructor, scratch() and finish() are
  /// collective.
  Team* team() const { return frame_.team(); }
  /// The processes that write one file together, or nullptr.
  Team* sharing() const { return frame_.sharing(); }
  /// So many more bytes will be moved than the plan says.
  void expect(std::uint64_t bytes) { progress_.bytes_total += bytes; }
  /// The next part of the data begins. This process will read and write `bytes` bytes for it, together.
  /// `pass` counts from 1. An earlier run has done `done` bytes of it.
  void begin(std::uint64_t bytes, std::size_t pass, std::uint64_t done = 0);
  bool resumable() const { return frame_.journal != nullptr; }
  /// To be called before the first pass of a resumable run. `plan` is a text: all that decides which bytes
  /// the steps of each pass write. Throws InputError if the plan of an earlier run was another one.
  void begin_resumable(const std::string& plan);
  /// Begins a pass and calls `perform` for its steps [first, last), in order: for all of them together or, if
  /// the run is resumable, part by part, for those that no earlier run has finished. `target` is the file
  /// that they write; with each part all of it must be there that they write. Each part is then synced and
  /// recorded in the journal. Throws what `perform` throws, and IoError.
  using Perform = std::function<void(std::uint64_t first, std::uint64_t last)>;
  void perform(const Steps& pass, const io::File& target, const Perform& perform);
  /// Reports the progress to the caller of Work::run().
  void tick();
  /// Adds a note to the report: a request that could not be met.
  void say(const std::string& note);
  /// Runs `body` among the workers. Meanwhile this thread calls `meanwhile`, if given, and then tick()
  /// repeatedly.
  void with(task::Workers& workers, const std::function<void()>& body,
            const std::function<void()>& meanwhile = {});

  /// Throws IoError if an input has changed since the run began.
  void require_unchanged_inputs() const { delivery_.require_unchanged_inputs(); }
  /// Gives the output its name. Throws Cancelled, and IoError if an input has changed.
  Report finish();

 private:
  std::uint64_t bytes_done() const;
  void checkpoint(std::size_t pass, std::uint64_t steps, const io::File& file);

  const Frame& frame_;
  task::Stopping stopping_;
  Meter meter_;
  Delivery delivery_;
  ProgressCallback callback_;
  Progress progress_;
  std::uint64_t before_ = 0, part_ = 0;  // bytes of the finished parts, and of this one
  std::uint64_t moved_before_ = 0;       // the meter's count when this part began
  // Passes before this one (counted from 0), and the first steps of it, were finished by earlier runs.
  std::size_t reached_pass_ = 0;
  std::uint64_t reached_steps_ = 0;
  bool within_step_ = false;
  std::string queue_;
  std::string note_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace xorder::work
