// Reads and writes large ranges of files for virtual processors, many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <type_traits>

#include "io/ranges.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"

namespace xorder::machine {

/// A function of io/ranges.hpp.
template <typename Byte>
using RangeTransfer = void(const io::File& file, std::uint64_t offset, Byte* data, std::size_t bytes);

/// Transfers whole ranges of files, by the threads of the machine. May be used by many threads.
class Storage {
 public:
  explicit Storage(std::stop_token stop) : stop_(std::move(stop)) {}

  /// Calls `transfer_one` for `bytes` bytes at `offset` from `place` on, which are at `data` in memory, in
  /// requests of a MiB, several at once for longer ranges. Throws what it throws, and Cancelled when a stop
  /// is requested.
  template <typename Byte>
  void transfer(RangeTransfer<Byte>* transfer_one, io::Location place, std::uint64_t offset,
                std::type_identity_t<Byte>* data, std::size_t bytes);

 private:
  std::stop_token stop_;
};

/// Threads that compute and wait for transfers by turns: as many as plan::transfer_threads() or the options
/// say, whichever is more.
task::Workers transfer_workers(const work::Frame& frame);

}  // namespace xorder::machine
