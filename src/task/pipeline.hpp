// Items that go through filters, several at once, each in a task of its own.
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <span>

#include "task/handover.hpp"

namespace xorder::task {

/// A filter that is called for one item at a time, in the order in which the items were filled.
template <typename Function>
struct InOrder {
  Function function;
  static constexpr auto mode = oneapi::tbb::filter_mode::serial_in_order;
};
/// A filter that is called for several items at once.
template <typename Function>
struct Parallel {
  Function function;
  static constexpr auto mode = oneapi::tbb::filter_mode::parallel;
};
template <typename Function>
InOrder<Function> in_order(Function function) {
  return {std::move(function)};
}
template <typename Function>
Parallel<Function> parallel(Function function) {
  return {std::move(function)};
}

/// Calls fill(item) for one item after the other, until it returns false, and each filter, in turn, with every item
/// that was filled. An item is filled again when it is through; if the last filter is in order, the items take
/// turns. Throws what they throw. To be called in an arena.
template <typename Item, typename Fill, typename... Filters>
void pipeline(std::span<Item> items, const Fill& fill, const Filters&... filters) {
  namespace tbb = oneapi::tbb;
  std::mutex mutex;
  std::deque<Item*> free;
  for (Item& item : items) free.push_back(&item);
  const auto first = [&](tbb::flow_control& flow) -> Item* {
    const InTask task;
    Item* item = nullptr;
    {
      const std::lock_guard lock(mutex);
      item = free.front();
      free.pop_front();
    }
    if (fill(*item)) return item;
    flow.stop();
    return nullptr;
  };
  const auto last = [&](Item* item) {
    const std::lock_guard lock(mutex);
    free.push_back(item);
  };
  const auto filter = [](const auto& of) {
    return tbb::make_filter<Item*, Item*>(of.mode, [&of](Item* item) {
      const InTask task;
      of.function(*item);
      return item;
    });
  };
  const auto all =
      (tbb::make_filter<void, Item*>(tbb::filter_mode::serial_in_order, first) & ... & filter(filters)) &
      tbb::make_filter<Item*, void>(tbb::filter_mode::serial_in_order, last);
  const AroundTasks around;  // when the closures have been made
  tbb::parallel_pipeline(items.size(), all);
}

}  // namespace xorder::task
