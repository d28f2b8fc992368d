#include "io/throttle.hpp"

#include <algorithm>
#include <utility>

namespace xorder::io {

Throttle::Throttle(std::uint64_t bytes_per_second, std::stop_token stop, Disk& behind)
    : DiskFilter(behind),
      seconds_per_byte_(1 / static_cast<double>(bytes_per_second)),
      stop_(std::move(stop)) {}

int Throttle::before(const Transfer& transfer) {
  if (stop_.stop_requested()) return 0;
  // Longer times would overflow; nobody waits for them.
  const double seconds = std::min(static_cast<double>(transfer.bytes()) * seconds_per_byte_, 1e6);
  std::unique_lock lock(mutex_);
  const Clock::time_point begin = std::max(next_, Clock::now());
  next_ = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  stopped_.wait_until(lock, stop_, begin, [] { return false; });
  return 0;
}

}  // namespace xorder::io
