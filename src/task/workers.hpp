// The threads that permute.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <functional>
#include <stop_token>
#include <string>

#include "task/handover.hpp"

namespace xorder::task {

/// A wish to stop, which comes from the caller or from a run itself.
class Stopping {
 public:
  explicit Stopping(std::stop_token outer) : forward_(std::move(outer), Request{source_}) {}
  std::stop_token token() const { return source_.get_token(); }
  void request() { source_.request_stop(); }

 private:
  struct Request {
    std::stop_source& source;
    void operator()() const { source.request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Request> forward_;
};

/// How many of so many threads there can be at once. TBB must never fail to start one: it would wait for it
/// for ever, or end the program. Costs 0.1 ms.
int startable_threads(int wanted);

/// `threads` of them (0: as many as there are processors for this process), none of which is the calling
/// thread unless it joins through execute(). TBB by itself makes one fewer. Fewer where the system does not
/// let so many be started (`ulimit -u`, a container's limit); if it lets none, everything happens in the
/// calling thread.
struct Workers {
  explicit Workers(unsigned threads);

  /// Runs `body` in the arena while this thread calls `meanwhile`, if there is such a thing, and then `tick`,
  /// many times a second and once at the end. Throws what `body` throws. If `meanwhile` or `tick` throws,
  /// `body` is asked to stop, and waited for, first.
  void run(const std::function<void()>& body, const std::function<void()>& tick, Stopping& stopping,
           const std::function<void()>& meanwhile = {});

  /// Runs `body` in the arena; this thread takes part. Throws what it throws.
  template <typename Body>
  void execute(const Body& body) {
    const auto in_arena = [&body] {
      const InTask task;
      body();
    };
    const AroundTasks around;
    arena.execute(in_arena);
  }

  /// What to say where there are fewer than were asked for, or nothing.
  std::string note() const;

  int wanted;
  int count;  ///< 0: only the calling thread
  oneapi::tbb::global_control control;
  oneapi::tbb::task_arena arena;
};

}  // namespace xorder::task
