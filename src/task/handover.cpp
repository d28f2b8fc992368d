#include "task/handover.hpp"

#if defined(__SANITIZE_THREAD__)

#include <sanitizer/tsan_interface.h>

namespace xorder::task {
namespace {

char all_tasks;  // one point that all of them pass

}  // namespace

void hand_over() { __tsan_release(&all_tasks); }
void received() { __tsan_acquire(&all_tasks); }

}  // namespace xorder::task

// TBB's own templates, compiled here, read tasks that were passed through the library, and atomics in them
// that another thread has made; and TBB frees in one thread what it gave to pthread_create in another. The
// sanitizer's library looks for this by name, so that it must not be hidden.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race_top:tbb::\nrace_top:oneapi/tbb/\nrace_top:^std::__atomic_base\nrace_top:^operator delete";
}

#else

namespace xorder::task {

void hand_over() {}
void received() {}

}  // namespace xorder::task

#endif
