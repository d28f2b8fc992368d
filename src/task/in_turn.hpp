// Two buffers in turn: while one of them is filled, the other goes through what follows.
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <cstddef>

#include "task/handover.hpp"

namespace xorder::task {

/// Calls fill(buffer), which says whether there was anything left to fill it with, and then each of `then`
/// with it, until there was nothing. Each of them is called for one buffer at a time, in order. Throws what
/// they throw.
template <typename Buffer, typename Fill, typename... Then>
void in_turn(Buffer (&buffers)[2], const Fill& fill, const Then&... then) {
  namespace tbb = oneapi::tbb;
  constexpr auto in_order = tbb::filter_mode::serial_in_order;
  std::size_t filled = 0;
  const auto first = [&](tbb::flow_control& flow) -> Buffer* {
    const InTask task;
    Buffer& buffer = buffers[filled++ % 2];
    if (fill(buffer)) return &buffer;
    flow.stop();
    return nullptr;
  };
  const auto filter = [](const auto& what) {
    return tbb::make_filter<Buffer*, Buffer*>(in_order, [&what](Buffer* buffer) {
      const InTask task;
      what(*buffer);
      return buffer;
    });
  };
  const auto all = (tbb::make_filter<void, Buffer*>(in_order, first) & ... & filter(then)) &
                   tbb::make_filter<Buffer*, void>(in_order, [](Buffer*) {});
  const AroundTasks around;
  tbb::parallel_pipeline(2, all);
}

}  // namespace xorder::task
