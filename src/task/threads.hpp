// How many threads a user may ask for and what that means, and the threads themselves.
//
// TBB distributes work here, but starts no threads for it. When the system refuses it one (`ulimit -u`, a
// container's limit), TBB waits for that one for ever or ends the program; after fork() its threads are
// gone; and it has no more than there are processors, for the whole program. So the arenas have places for
// outside threads only, and the threads that come are those of a Crew. The host's TBB does not notice.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace xorder::task {

/// The most threads that a user may ask for. The C interface and the command line check it.
inline constexpr int max_threads = 1024;

/// How many threads are meant: 0 means one for each processor that this process may use.
unsigned thread_count(unsigned asked);

/// Threads, borrowed for as long as this lives. Some are kept for the next crew, asleep, because starting one
/// takes far longer than waking it.
class Crew {
 public:
  enum class Kind {
    all,   ///< as many as wanted: they may wait for a disk
    spare  ///< no more than there are processors besides the callers', in all crews of this kind together
  };

  /// Has `wanted` threads, all of which have started; fewer if the system lets fewer start.
  explicit Crew(int wanted, Kind kind = Kind::all);
  /// Waits for all.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int count() const { return static_cast<int>(members_.size()); }
  /// Has a thread call `job`, which must not throw. Requires that the thread has been awaited since the last.
  void start(int thread, std::function<void()> job);
  /// Waits until its job has ended. If the thread has not begun it, it never will.
  void await(int thread);

 private:
  class Member;
  struct Process;
  Process& process_;
  int spare_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace xorder::task
