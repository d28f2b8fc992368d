#include "task/stretches.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace xorder::task {
namespace {

TEST(Stretches, CoverEachIndexOnce) {
  for (const std::uint64_t count : {0, 1, 2, 3, 1000}) {
    for (const unsigned threads : {0u, 1u, 2u, 5u, 64u}) {
      std::vector<std::atomic<int>> times(count);
      for_stretches(count, threads, [&](std::uint64_t first, std::uint64_t last) {
        EXPECT_LT(first, last);
        for (std::uint64_t i = first; i < last; ++i) ++times.at(i);
      });
      for (const auto& each : times) EXPECT_EQ(each, 1) << count << " by " << threads;
    }
  }
}

TEST(Stretches, ThrowWhatTheBodyThrows) {
  for (const unsigned threads : {1u, 2u}) {
    EXPECT_THROW(for_stretches(100, threads,
                               [](std::uint64_t, std::uint64_t) { throw std::logic_error("the body's"); }),
                 std::logic_error);
  }
}

}  // namespace
}  // namespace xorder::task
