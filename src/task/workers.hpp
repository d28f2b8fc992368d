// The threads that permute data.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "task/handover.hpp"
#include "task/threads.hpp"

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

/// An arena with a place for each thread of a crew and one for its owner. TBB sends no threads there.
class CrewArena : public oneapi::tbb::task_arena {
 public:
  explicit CrewArena(const Crew& crew) : CrewArena(std::max(crew.count() + 1, 2)) {}

 private:
  explicit CrewArena(int places) : task_arena(places, static_cast<unsigned>(places)) {}
};

/// While this lives, the first `count` threads of a crew do what there is to do in an arena.
class Gathering {
 public:
  Gathering(oneapi::tbb::task_arena& arena, Crew& crew, int count);
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

 private:
  // What a thread waits for in the arena: a task that is never run.
  struct End {
    End();
    std::unique_ptr<oneapi::tbb::task_group> group;
    oneapi::tbb::task_handle task;
  };
  Crew& crew_;
  std::vector<End> ends_;
};

/// A pool of `threads` threads (0 means one for each processor of this process), all of which have started.
/// There are fewer if the system does not let that many start (`ulimit -u`, a container's limit). If it lets
/// none start, everything happens in the calling thread. See Crew for what it costs.
struct Workers {
  explicit Workers(unsigned threads);

  /// Runs `body` in one of the threads. The others take part. Meanwhile this thread calls `meanwhile`, if
  /// given, and then `tick` many times per second and once at the end. Throws what `body` throws. If
  /// `meanwhile` or `tick` throws, `body` is first asked to stop and waited for.
  void run(const std::function<void()>& body, const std::function<void()>& tick, Stopping& stopping,
           const std::function<void()>& meanwhile = {});

  /// Runs `body` in this thread. All others but one take part. Throws what `body` throws.
  template <typename Body>
  void execute(const Body& body) {
    const Gathering others(arena, crew, std::max(count - 1, 0));
    execute_in(arena, body);
  }

  /// A note if there are fewer threads than wanted; otherwise empty.
  std::string note() const;

  int wanted;
  Crew crew;
  int count;  ///< 0: only the calling thread
  CrewArena arena;
};

}  // namespace xorder::task
