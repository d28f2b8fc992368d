#include "semaphore.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace xorder {
namespace {

TEST(Semaphore, EachThreadGetsItsTurnsAndNoMoreThanThatAtOnce) {
  for (const int at_once : {1, 2, 3}) {
    Semaphore semaphore(static_cast<unsigned>(at_once));
    std::atomic<int> inside = 0, most = 0, taken = 0;
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < 6; ++thread) {
        threads.emplace_back([&] {
          for (int i = 0; i < 500; ++i) {
            const Turn turn(semaphore);
            const int now = ++inside;
            for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
            }
            std::this_thread::yield();
            ++taken;
            --inside;
          }
        });
      }
    }
    EXPECT_EQ(taken, 3000);
    EXPECT_EQ(inside, 0);
    EXPECT_LE(most, at_once);
  }
}

}  // namespace
}  // namespace xorder
