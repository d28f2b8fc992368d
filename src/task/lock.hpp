// A spin lock that the thread sanitizer sees.
#pragma once

#include <oneapi/tbb/spin_mutex.h>

#include "task/handover.hpp"

namespace xorder::task {

/// Holds the mutex. What its last holder has done is visible.
class Lock {
 public:
  explicit Lock(oneapi::tbb::spin_mutex& mutex) : lock_(mutex) { received(); }
  ~Lock() { hand_over(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  oneapi::tbb::spin_mutex::scoped_lock lock_;
};

}  // namespace xorder::task
