// Reads and writes large ranges of files for virtual processors, many at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "io/ranges.hpp"
#include "plan/processors/processors.hpp"
#include "task/parallel.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {

/// Transfers whole ranges of files, by the threads of the machine. May be used by many threads.
class Storage {
 public:
  explicit Storage(std::stop_token stop) : stop_(std::move(stop)) {}

  /// Calls `transfer_one`, a function of io/ranges.hpp, for `bytes` bytes at `offset` from `place` on, which
  /// are at `data` in memory, in requests of a MiB, several at once for longer ranges. They meet at multiples
  /// of their size in the file, so that only the ends of the range can be unaligned. Throws what it throws,
  /// and Cancelled when a stop is requested.
  template <typename Transfer, typename Byte>
  void transfer(const Transfer& transfer_one, io::Location place, std::uint64_t offset, Byte* data,
                std::size_t bytes) {
    constexpr std::uint64_t request = plan::transfer_bytes;
    if (bytes == 0) return;
    const std::uint64_t begin = place.offset + offset, end = begin + bytes;
    const std::uint64_t first = begin / request, last = (end - 1) / request;
    task::each(last - first + 1, [&](std::uint64_t i) {
      if (stop_.stop_requested()) throw Cancelled();
      const std::uint64_t from = std::max(begin, (first + i) * request);
      const std::uint64_t to = std::min(end, (first + i + 1) * request);
      transfer_one(place.file, from, data + (from - begin), static_cast<std::size_t>(to - from));
    });
  }

 private:
  std::stop_token stop_;
};

/// Threads that compute and wait for transfers by turns: as many as plan::transfer_threads() or the options
/// say, whichever is more.
inline task::Workers transfer_workers(const work::Frame& frame) {
  return task::Workers(std::max(plan::transfer_threads(frame.memory()), frame.options.threads));
}

}  // namespace xorder::machine
