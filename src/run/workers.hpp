// The threads that permute.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

namespace xorder::run {

/// `threads` of them (0: as many as there are processors for this process), none of which is the calling
/// thread unless it joins through arena.execute(). TBB by itself makes one fewer.
struct Workers {
  /// Fewer where the system does not let so many be started; throws Error if it lets none.
  explicit Workers(unsigned threads);

  int count;
  oneapi::tbb::global_control control;
  oneapi::tbb::task_arena arena;
};

}  // namespace xorder::run
