// The threads that permute data.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <functional>
#include <stop_token>
#include <string>

#include "task/handover.hpp"

namespace xorder::task {

/// A stop request, from the caller or from a run itself.
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

/// Runs `body` in the arena. This thread takes part. Throws what `body` throws.
template <typename Body>
void execute_in(oneapi::tbb::task_arena& arena, const Body& body) {
  const auto in_arena = [&body] {
    const InTask task;
    body();
  };
  const AroundTasks around;
  arena.execute(in_arena);
}

/// Runs `body` in this thread alone: what is parallel in it starts no others. Throws what `body` throws.
template <typename Body>
void execute_alone(const Body& body) {
  oneapi::tbb::task_arena arena(1);
  execute_in(arena, body);
}

/// A pool of `threads` threads (0 means one for each processor of this process). The calling thread is not
/// one of them unless it joins through execute(); TBB by itself makes one fewer. There are fewer if the
/// system does not let that many start (`ulimit -u`, a container's limit). If it lets none start, everything
/// happens in the calling thread.
struct Workers {
  explicit Workers(unsigned threads);

  /// Runs `body` in the arena. Meanwhile this thread calls `meanwhile`, if given, and then `tick` many times
  /// per second and once at the end. Throws what `body` throws. If `meanwhile` or `tick` throws, `body` is
  /// first asked to stop and waited for.
  void run(const std::function<void()>& body, const std::function<void()>& tick, Stopping& stopping,
           const std::function<void()>& meanwhile = {});

  /// Runs `body` in the arena. This thread takes part. Throws what `body` throws.
  template <typename Body>
  void execute(const Body& body) {
    execute_in(arena, body);
  }

  /// A note if there are fewer threads than wanted; otherwise empty.
  std::string note() const;

  int wanted;
  int count;  ///< 0: only the calling thread
  oneapi::tbb::global_control control;
  oneapi::tbb::task_arena arena;
};

}  // namespace xorder::task
