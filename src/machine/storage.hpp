// Reads and writes large ranges of files for virtual processors, many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "io/file.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"

namespace xorder::machine {

/// Transfers whole ranges of files, by the threads of the machine. Throws Cancelled when a stop is requested,
/// and IoError. May be used by many threads.
class Storage {
 public:
  explicit Storage(std::stop_token stop) : stop_(std::move(stop)) {}

  /// In requests of a MiB, several at once for longer ranges.
  void read(io::Location place, std::uint64_t offset, std::byte* to, std::size_t bytes);
  void write(io::Location place, std::uint64_t offset, const std::byte* from, std::size_t bytes);

  // The same for a range that is mapped at `window` (io/ranges.hpp).
  void read_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes);
  void prepare_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes);
  void write_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes);

 private:
  template <typename Transfer>
  void in_parallel(std::uint64_t begin, std::size_t bytes, const Transfer& transfer);

  std::stop_token stop_;
};

/// Threads that compute and wait for transfers by turns: as many as plan::transfer_threads() or the options
/// say, whichever is more.
task::Workers transfer_workers(const work::Frame& frame);

}  // namespace xorder::machine
