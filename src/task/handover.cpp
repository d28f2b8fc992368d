#include "task/handover.hpp"

#if defined(__SANITIZE_THREAD__)

#include <sanitizer/tsan_interface.h>

namespace xorder::task {
namespace {

char all_tasks;  // one sync point for all tasks

}  // namespace

void hand_over() { __tsan_release(&all_tasks); }
void received() { __tsan_acquire(&all_tasks); }

}  // namespace xorder::task

// TBB's templates, compiled here, read tasks that came through the library, and atomics in them that another
// thread has made. TBB also frees in one thread what it gave to pthread_create in another. The sanitizer's
// library looks this function up by name, so it must not be hidden.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race_top:tbb::\nrace_top:oneapi/tbb/\nrace_top:^std::__atomic_base\nrace_top:^operator delete";
}

#else

namespace xorder::task {

void hand_over() {}
void received() {}

}  // namespace xorder::task

#endif
