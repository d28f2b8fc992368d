// The threads that permute.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

namespace xorder::run {

/// `threads` of them (0: as many as there are processors for this process), none of which is the calling
/// thread unless it joins through arena.execute(). TBB by itself makes one fewer.
struct Workers {
  explicit Workers(unsigned threads)
      : count(threads != 0 ? static_cast<int>(threads) : oneapi::tbb::info::default_concurrency()),
        control(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count) + 1),
        arena(count, 0) {}

  int count;
  oneapi::tbb::global_control control;
  oneapi::tbb::task_arena arena;
};

}  // namespace xorder::run
