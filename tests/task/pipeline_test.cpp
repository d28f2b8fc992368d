#include "task/pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "task/workers.hpp"

namespace xorder::task {
namespace {

struct Item {
  int number = -1;
  int slot = -1;
};

class TaskPipeline : public testing::TestWithParam<int> {};

TEST_P(TaskPipeline, EveryItemPassesEveryFilterOnceAndInOrderWhereAsked) {
  constexpr int count = 1000;
  Workers workers(3);
  std::vector<Item> items(static_cast<std::size_t>(GetParam()));
  for (std::size_t i = 0; i < items.size(); ++i) items[i].slot = static_cast<int>(i);
  std::vector<std::atomic<int>> seen(count);
  std::vector<int> ordered, slots;
  std::atomic<int> at_once = 0, most = 0;
  int next = 0;
  workers.execute([&] {
    pipeline(
        std::span(items),
        [&](Item& item) {
          if (next == count) return false;
          item.number = next++;
          return true;
        },
        parallel([&](Item& item) {
          int now = ++at_once;
          for (int old = most; now > old && !most.compare_exchange_weak(old, now);) {
          }
          ++seen[static_cast<std::size_t>(item.number)];
          --at_once;
        }),
        in_order([&](Item& item) {
          ordered.push_back(item.number);
          slots.push_back(item.slot);
        }));
  });
  for (const auto& one : seen) EXPECT_EQ(one, 1);
  std::vector<int> expected(count);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(ordered, expected);
  for (int i = 0; i < count; ++i) EXPECT_EQ(slots[static_cast<std::size_t>(i)], i % GetParam());
  EXPECT_LE(most, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Items, TaskPipeline, testing::Values(1, 2, 7));

TEST(TaskPipelineFailure, WhatAFilterThrowsIsThrown) {
  Workers workers(2);
  std::vector<int> items(3);
  int filled = 0;
  EXPECT_THROW(workers.execute([&] {
    pipeline(
        std::span(items), [&](int& item) { return (item = filled++) < 100; }, parallel([](int& item) {
          if (item == 10) throw std::logic_error("the filter's");
        }));
  }),
               std::logic_error);
}

}  // namespace
}  // namespace xorder::task
