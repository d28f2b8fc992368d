// Double buffering: while one buffer is filled, the other is processed.
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <cstddef>

#include "task/handover.hpp"

namespace xorder::task {

/// Calls fill(buffer) and then each of `then` with that buffer, until fill() returns false because nothing is
/// left. Each function is called for one buffer at a time, in order. Throws what they throw, after the calls
/// in progress have ended.
template <typename Buffer, typename Fill, typename... Then>
void in_turn(Buffer (&buffers)[2], const Fill& fill, const Then&... then) {
  namespace tbb = oneapi::tbb;
  std::size_t filled = 0;
  const auto first = [&](tbb::flow_control& flow) -> Buffer* {
    const InTask task;
    Buffer& buffer = buffers[filled++ % 2];
    if (fill(buffer)) return &buffer;
    flow.stop();
    return nullptr;
  };
  const auto filter = [](const auto& function) {
    const auto call = [&function](Buffer* buffer) {
      const InTask task;
      function(*buffer);
      return buffer;
    };
    return tbb::make_filter<Buffer*, Buffer*>(tbb::filter_mode::serial_in_order, call);
  };
  const auto all =
      (tbb::make_filter<void, Buffer*>(tbb::filter_mode::serial_in_order, first) & ... & filter(then)) &
      tbb::make_filter<Buffer*, void>(tbb::filter_mode::parallel, [](Buffer*) { const InTask task; });
  const AroundTasks around;
  tbb::parallel_pipeline(2, all);
}

}  // namespace xorder::task
