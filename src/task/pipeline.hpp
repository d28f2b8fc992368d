// A pipeline of tasks. Items from next() go through the parts one after the other, several items at a time.
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <cstddef>
#include <optional>

#include "task/handover.hpp"

namespace xorder::task {

/// One stage of a pipeline. It handles one item at a time, in order, or several at once.
template <typename Function>
struct Part {
  oneapi::tbb::filter_mode mode;
  Function function;
};
template <typename Function>
Part<Function> in_order(Function function) {
  return {oneapi::tbb::filter_mode::serial_in_order, std::move(function)};
}
template <typename Function>
Part<Function> at_once(Function function) {
  return {oneapi::tbb::filter_mode::parallel, std::move(function)};
}

/// Takes items from next(), which returns std::optional<Item>, until it returns none. At most `in_flight`
/// items are in the pipeline; when one has passed the last part, another may begin. An item is a number or a
/// pointer. An in_order() part handles items in the order of next(). Throws what next() and the parts throw,
/// after the calls in progress have ended.
template <typename Item, typename Next, typename... Functions>
void pipeline(std::size_t in_flight, const Next& next, const Part<Functions>&... parts) {
  namespace tbb = oneapi::tbb;
  const auto first = [&next](tbb::flow_control& flow) -> Item {
    const InTask task;
    if (const std::optional<Item> item = next()) return *item;
    flow.stop();
    return {};
  };
  const auto filter = [](const auto& part) {
    return tbb::make_filter<Item, Item>(part.mode, [&part](Item item) {
      const InTask task;
      part.function(item);
      return item;
    });
  };
  const auto all =
      (tbb::make_filter<void, Item>(tbb::filter_mode::serial_in_order, first) & ... & filter(parts)) &
      tbb::make_filter<Item, void>(tbb::filter_mode::parallel, [](Item) { const InTask task; });
  const AroundTasks around;
  tbb::parallel_pipeline(in_flight, all);
}

}  // namespace xorder::task
