// What virtual processors do with files: read and write large ranges, many at once, while another thread
// watches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "io/file.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"

namespace xorder::machine {

/// Whole ranges of files, by the threads of the machine; ends with Cancelled when asked to stop. Used by many
/// threads.
class Storage {
 public:
  explicit Storage(std::stop_token stop) : stop_(std::move(stop)) {}

  /// In requests of a MiB, several at once for longer ranges.
  void read(io::Location place, std::uint64_t offset, std::byte* to, std::size_t bytes);
  void write(io::Location place, std::uint64_t offset, const std::byte* from, std::size_t bytes);

  // The same where the range is mapped, at `window` (io/ranges.hpp).
  void read_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes);
  void prepare_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes);
  void write_in_place(io::Location place, std::uint64_t offset, std::byte* window, std::size_t bytes);

 private:
  template <typename Transfer>
  void in_parallel(std::uint64_t begin, std::size_t bytes, const Transfer& transfer);

  std::stop_token stop_;
};

/// Threads that compute and block in transfers by turns: more than there are processors
/// (plan/processors.hpp), and as many as the options say at least.
task::Workers transfer_workers(const work::Frame& frame);

}  // namespace xorder::machine
