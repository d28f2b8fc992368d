#include "task/threads.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <thread>

#include "semaphore.hpp"
#include "task/parallel.hpp"
#include "task/stretches.hpp"
#include "task/tasks.hpp"
#include "task/workers.hpp"

namespace xorder::task {
namespace {

TEST(Crew, EachJobHasAThreadOfItsOwn) {
  for (const int wanted : {0, 1, 7}) {
    Crew crew(wanted);
    ASSERT_EQ(crew.count(), wanted);
    std::latch all_here(wanted + 1);
    for (int i = 0; i < wanted; ++i) crew.start(i, [&] { all_here.arrive_and_wait(); });
    all_here.arrive_and_wait();
    for (int i = 0; i < wanted; ++i) crew.await(i);
    std::atomic<int> again = 0;
    for (int i = 0; i < wanted; ++i) {
      crew.start(i, [&] { ++again; });
      while (again == i) std::this_thread::yield();
    }
  }
}

// A thread comes late if others use the processor.
TEST(Crew, AThreadThatHasNotBegunItsJobIsNotAwaited) {
  Crew crew(1);
  int begun = 0;
  for (int i = 0; i < 1000; ++i) {
    crew.start(0, [&] { ++begun; });
    crew.await(0);
  }
  EXPECT_LE(begun, 1000);
}

TEST(Crew, SpareThreadsAreNoMoreThanThereAreProcessors) {
  const int all = static_cast<int>(thread_count(0));
  const Crew one(1000, Crew::Kind::spare), other(1000, Crew::Kind::spare), waiting(3);
  EXPECT_EQ(one.count(), all - 1);
  EXPECT_EQ(other.count(), 0);
  EXPECT_EQ(waiting.count(), 3);
}

// Everything that uses threads. Returns whether all was done.
bool everything() {
  std::atomic<std::uint64_t> done = 0;
  for_stretches(1000, 4, [&](std::uint64_t first, std::uint64_t last) { done += last - first; });
  Workers workers(4);
  Stopping stopping({});
  const auto one = [&](std::uint64_t) { ++done; };
  workers.run([&] { each(1000, one); }, [] {}, stopping);
  workers.execute([&] { each(1000, one); });
  Tasks tasks(workers);
  Semaphore ended(0);
  for (int i = 0; i < 100; ++i) {  // nobody helps: the workers must come
    tasks.start([&] {
      ++done;
      ended.release();
    });
    ended.acquire();
  }
  tasks.wait();
  return done == 3100;
}

TEST(Threads, AChildOfForkHasItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not allow threads after fork()";
#endif
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      const bool done = everything();
      const pid_t grandchild = done ? fork() : -1;
      if (grandchild == 0) _exit(everything() ? 0 : 1);
      int status = 1;
      waitpid(grandchild, &status, 0);
      _exit(status == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(everything());  // from now on with threads before
  }
}

// TBB gives no tasks of others to a thread whose stack is smaller than it assumes.
TEST(Threads, SmallStacksByDefault) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not allow threads after fork()";
#endif
  const pid_t child = fork();  // it has no threads yet
  if (child == 0) {
    alarm(60);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, std::size_t{512} << 10);
    pthread_setattr_default_np(&small);
    _exit(everything() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// TBB warns on standard error when it is asked for more threads than it gives.
TEST(Threads, AHostsTbbIsLeftAlone) {
  namespace tbb = oneapi::tbb;
  using Limit = tbb::global_control;
  testing::internal::CaptureStderr();
  const std::size_t before = Limit::active_value(Limit::max_allowed_parallelism);
  for (const std::size_t most : {before, std::size_t{1}}) {
    const Limit limit(Limit::max_allowed_parallelism, most);
    std::atomic<int> done = 0;
    tbb::parallel_for(0, 8, [&](int) {
      done += everything();
      EXPECT_EQ(Limit::active_value(Limit::max_allowed_parallelism), most);
    });
    EXPECT_EQ(done, 8);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace xorder::task
