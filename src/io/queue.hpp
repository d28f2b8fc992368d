// Many transfers in flight for one thread. A queue is had from a disk (disk.hpp); three implementations do
// the same thing by different means:
//   uring    O_DIRECT files through io_uring (buffered ones too, but the threads engine suits them better:
//            starting and awaiting their write-back can block)
//   threads  pread and pwrite by a pool of threads, where io_uring is forbidden, and for buffered files
//   mapped   copies from and to Boost.Interprocess regions, populated before use and dropped after
//
// Any of them takes files of any Access. None of them keeps anything of a file when its transfers have
// completed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/transfer.hpp"

namespace xorder::io {

/// Used by one thread at a time, except for post(). Destruction waits for what is in flight.
class Queue {
 public:
  virtual ~Queue() = default;
  /// How many transfers may be in flight.
  virtual unsigned depth() const = 0;
  /// Queues a transfer, to be started at the latest by the next wait(). The memory and the file must stay
  /// until the completion. Short transfers are continued inside. Requires fewer than depth() in flight. A
  /// transfer that the system refuses completes with an error.
  virtual void submit(const Transfer& transfer) = 0;
  /// Completes `token` without any I/O; may be called from any thread, and wakes a wait() in progress.
  virtual void post(std::uint64_t token) = 0;
  /// Blocks until something has completed and appends it to `done`. With nothing in flight, waits for a
  /// post().
  virtual void wait(std::vector<Completion>& done) = 0;
  /// "io_uring", "threads" or "mapped".
  virtual const char* name() const = 0;
};

enum class Engine { uring, threads, mapped };

/// "io_uring", "threads" or "mapped".
const char* name(Engine engine);

/// Makes the operating system's queue, for Disk::queue(). Engine::uring throws IoError where the kernel
/// forbids io_uring: see uring_available(). `depth` (at least 1) transfers at most are in flight; the threads
/// and mapped engines use min(depth, 32) threads.
std::unique_ptr<Queue> make_queue(Engine engine, unsigned depth);

/// Whether an io_uring can be made in this process (old kernels, seccomp filters and sysctls forbid it).
bool uring_available();

}  // namespace xorder::io
