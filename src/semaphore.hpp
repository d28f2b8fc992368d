// A counting semaphore.
#pragma once

#include <semaphore.h>

#include <cerrno>
#include <ctime>

namespace xorder {

/// POSIX's, because two others can leave a thread asleep forever. std::counting_semaphore of GCC 12 reads its
/// counter, tries to take a place, and sleeps if the counter is what it was: also if the last place was taken
/// and given back in between; and release() wakes nobody unless the counter was 0. A condition variable with
/// several waiters can lose a notify_one() (glibc bug 25847).
class Semaphore {
 public:
  explicit Semaphore(unsigned count) { sem_init(&semaphore_, 0, count); }
  ~Semaphore() { sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void acquire() {
    while (sem_wait(&semaphore_) != 0) {  // a signal came
    }
  }
  /// Waits for at most `nanoseconds`, less than a second. Returns whether it has taken a place.
  bool acquire_within(long nanoseconds) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += nanoseconds;
    if (until.tv_nsec >= 1'000'000'000) ++until.tv_sec, until.tv_nsec -= 1'000'000'000;
    while (sem_timedwait(&semaphore_, &until) != 0) {
      if (errno != EINTR) return false;
    }
    return true;
  }
  bool try_acquire() { return sem_trywait(&semaphore_) == 0; }
  void release() { sem_post(&semaphore_); }

 private:
  sem_t semaphore_;
};

/// Holds one of a semaphore's places.
class Turn {
 public:
  explicit Turn(Semaphore& semaphore) : semaphore_(semaphore) { semaphore.acquire(); }
  ~Turn() { semaphore_.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Semaphore& semaphore_;
};

}  // namespace xorder
