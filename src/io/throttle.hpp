// A disk that lets only so many bytes pass in a second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "io/disk_filter.hpp"

namespace xorder::io {

/// Reads and writes count together, and so do all files. A transfer begins when the time that those before it
/// take at this rate is over; time in which nothing was transferred is not made up for. Mapped windows count
/// when they are brought in and written back.
class Throttle final : public DiskFilter {
 public:
  /// `bytes_per_second` is not 0. If asked to stop, nothing waits any longer.
  Throttle(std::uint64_t bytes_per_second, std::stop_token stop, Disk& behind);

  double rate_limit() const override { return 1 / seconds_per_byte_; }

 private:
  using DiskFilter::before;
  int before(const Transfer& transfer) override;

  double seconds_per_byte_;
  std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  Clock::time_point next_ = Clock::now();  // when the next transfer may begin
};

}  // namespace xorder::io
