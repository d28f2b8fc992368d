#include "task/threads.hpp"

#include <oneapi/tbb/info.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>

#include "semaphore.hpp"
#include "thread.hpp"

namespace xorder::task {
namespace {

int processors() { return oneapi::tbb::info::default_concurrency(); }

}  // namespace

unsigned thread_count(unsigned asked) { return asked != 0 ? asked : static_cast<unsigned>(processors()); }

/// A thread that sleeps until it gets a job.
class Crew::Member {
 public:
  // The stack is as large as those of TBB's own threads, whatever the limit is (ulimit -s). TBB assumes that,
  // and gives no tasks of others to a thread that has less than half of it left.
  Member() : thread_(std::size_t{4} << 20, [this] { work(); }) {}
  ~Member() {
    job_ = nullptr;
    state_ = State::given;
    begin_.release();
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  void start(std::function<void()> job) {
    job_ = std::move(job);
    state_ = State::given;
    begin_.release();
  }
  void await() {
    State state = State::given;
    if (state_.compare_exchange_strong(state, State::none) || state == State::none) return;
    ended_.acquire();
    state_ = State::none;
  }

 private:
  enum class State { none, given, taken };

  // It may be woken for a job that it does not find any more.
  void work() {
    for (;;) {
      begin_.acquire();
      State state = State::given;
      if (!state_.compare_exchange_strong(state, State::taken)) continue;
      if (!job_) return;
      job_();
      ended_.release();
    }
  }

  Semaphore begin_{0}, ended_{0};
  std::atomic<State> state_ = State::none;
  std::function<void()> job_;
  Thread thread_;  // the last member: it uses the others
};

/// What the crews of this process share.
struct Crew::Process {
  const pid_t id = getpid();
  std::mutex mutex;
  int spare = 0;  // threads in crews of this kind
  std::vector<std::unique_ptr<Member>> asleep;

  static Process& current();
  void take(std::vector<std::unique_ptr<Member>>& to, int wanted);
  void give_back(std::vector<std::unique_ptr<Member>>& members, int spare_ones);
};

// A child of fork() has none of the parent's threads, and the mutex may be locked for ever. So it begins
// anew, and leaves the parent's record as it is.
Crew::Process& Crew::Process::current() {
  struct Owner {
    std::atomic<Process*> process = new Process;
    // At the end of the program, or before a library that this is part of is unloaded, no thread may be left.
    // The record stays, for those who come later.
    ~Owner() {
      if (process.load()->id == getpid()) process.load()->asleep.clear();
    }
  };
  static Owner owner;
  Process* process = owner.process;
  if (process->id == getpid()) return *process;
  auto fresh = std::make_unique<Process>();
  if (owner.process.compare_exchange_strong(process, fresh.get())) process = fresh.release();
  return *process;
}

void Crew::Process::take(std::vector<std::unique_ptr<Member>>& to, int wanted) {
  to.reserve(static_cast<std::size_t>(wanted));
  {
    const std::lock_guard lock(mutex);
    while (std::ssize(to) < wanted && !asleep.empty()) {
      to.push_back(std::move(asleep.back()));
      asleep.pop_back();
    }
  }
  try {
    while (std::ssize(to) < wanted) to.push_back(std::make_unique<Member>());
  } catch (const std::system_error&) {  // the limit is reached
  }
}

void Crew::Process::give_back(std::vector<std::unique_ptr<Member>>& members, int spare_ones) {
  static const auto most_asleep = static_cast<std::size_t>(std::max(processors(), 16));
  const std::lock_guard lock(mutex);
  spare -= spare_ones;
  while (!members.empty() && asleep.size() < most_asleep) {
    asleep.push_back(std::move(members.back()));
    members.pop_back();
  }
}

Crew::Crew(int wanted, Kind kind) : process_(Process::current()) {
  if (kind == Kind::spare) {
    const std::lock_guard lock(process_.mutex);
    spare_ = wanted = std::clamp(wanted, 0, std::max(processors() - 1 - process_.spare, 0));
    process_.spare += spare_;
  }
  process_.take(members_, wanted);
}

Crew::~Crew() {
  for (const auto& member : members_) member->await();
  process_.give_back(members_, spare_);
}

void Crew::start(int thread, std::function<void()> job) {
  members_[static_cast<std::size_t>(thread)]->start(std::move(job));
}

void Crew::await(int thread) { members_[static_cast<std::size_t>(thread)]->await(); }

}  // namespace xorder::task
