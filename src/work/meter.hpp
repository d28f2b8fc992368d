// A disk that counts what a run reads and writes.
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
    std::uint64_t bytes_read = 0, bytes_written = 0;  ///< as requested from the files
    std::uint64_t bytes() const { return bytes_read + bytes_written; }
  };
  /// Counts the transfers that have ended without failing.
  Count count() const;
  /// Sets all counts to 0. Do not call it with transfers in flight.
  void restart();

 private:
  using DiskFilter::before;
  void after(const io::Transfer& transfer, const io::Completion& completion,
             Clock::time_point begun) override;

  std::atomic<std::uint64_t> reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0;
};

}  // namespace xorder::work
