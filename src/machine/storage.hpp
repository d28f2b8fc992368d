// What virtual processors do with files: read and write large ranges, many at once, while another thread
// watches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "tiles/pipeline.hpp"
#include "xorder/work/work.hpp"

namespace xorder::machine {

/// Counts what passes through it, and ends with Cancelled when asked to stop. Used by many threads.
class Storage {
 public:
  explicit Storage(std::stop_token stop) : stop_(std::move(stop)) {}

  /// In requests of a MiB, several at once for longer ranges.
  void read(io::Location place, std::uint64_t offset, std::byte* to, std::size_t bytes);
  void write(io::Location place, std::uint64_t offset, const std::byte* from, std::size_t bytes);

  std::uint64_t bytes() const { return read_ + written_; }
  void add_to(work::Report& report) const;

 private:
  template <typename Transfer>
  void in_parallel(std::uint64_t begin, std::size_t bytes, const Transfer& transfer);

  std::stop_token stop_;
  std::atomic<std::uint64_t> read_ = 0, written_ = 0, reads_ = 0, writes_ = 0;
};

/// How many threads are worth having that compute and block in transfers by turns: more than there are
/// processors, and `threads` at least.
unsigned storage_threads(unsigned threads, std::uint64_t memory);
/// Memory that so many take for themselves.
std::uint64_t storage_overhead(std::uint64_t memory);

}  // namespace xorder::machine
