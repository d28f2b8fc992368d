// Counts what a run reads and writes, at the door through which all of it passes.
#pragma once

#include <atomic>
#include <cstdint>

#include "io/disk_filter.hpp"

namespace xorder::work {

class Meter final : public io::DiskFilter {
 public:
  using DiskFilter::DiskFilter;

  struct Count {
    std::uint64_t reads = 0, writes = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;  ///< as asked of the files
    std::uint64_t bytes() const { return bytes_read + bytes_written; }
  };
  /// Of the transfers that have ended, without those that failed.
  Count count() const;
  /// From 0 again. Not while transfers are under way.
  void restart();

 private:
  using DiskFilter::before;
  void after(const io::Transfer& transfer, const io::Completion& completion,
             Clock::time_point begun) override;

  std::atomic<std::uint64_t> reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0;
};

}  // namespace xorder::work
