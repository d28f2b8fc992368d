// Queues let one thread have many transfers in flight. A disk makes them (disk.hpp). There are four kinds:
//   uring      O_DIRECT files through io_uring (buffered ones too, but threads suit them better: starting
//              and awaiting their write-back can block)
//   threads    preadv and pwritev by a pool of threads, where io_uring is forbidden, and for buffered files
//   in_memory  the same by one thread more than there are processors, for files of tmpfs, where a transfer
//              only copies. (io_uring would hand each of them to a kernel thread.)
//   mapped     writes into Boost.Interprocess regions, populated before use; reads as `threads` does
//
// Each accepts files of any Access. None keeps anything of a file after its transfers have completed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/transfer.hpp"

namespace xorder::io {

/// More than the tasks of a pass, requests to stop and calls of its clock.
inline constexpr std::size_t most_posts = 80;

/// For one thread at a time, except post(). The destructor waits for transfers in flight.
class Queue {
 public:
  virtual ~Queue() = default;
  /// How many transfers may be in flight.
  virtual unsigned depth() const = 0;
  /// Queues a transfer. It starts at the next wait() at the latest. The memory and the file must stay until
  /// the completion. The queue continues short transfers itself. Requires fewer than depth() in flight. A
  /// transfer that the system refuses completes with an error.
  virtual void submit(const Transfer& transfer) = 0;
  /// Completes `token` without any I/O. Any thread may call it. It wakes a wait() in progress. Does not throw
  /// while fewer than most_posts wait to be taken.
  virtual void post(std::uint64_t token) = 0;
  /// Blocks until something has completed and appends it to `done`. With nothing in flight, waits for a
  /// post().
  virtual void wait(std::vector<Completion>& done) = 0;
};

enum class QueueKind { uring, threads, in_memory, mapped };

/// "io_uring", "threads" (also of QueueKind::in_memory) or "mapped".
const char* name(QueueKind kind);

/// Makes the operating system's queue, for Disk::queue(). At most `depth` transfers (at least 1) are in
/// flight. QueueKind::threads and QueueKind::mapped have a thread for each of them, at most 32.
/// QueueKind::uring throws IoError where the kernel forbids io_uring: see uring_available().
std::unique_ptr<Queue> make_queue(QueueKind kind, unsigned depth);

/// Why this process cannot use io_uring: 0 if it can, otherwise an errno. Old kernels, seccomp filters and
/// sysctls forbid it, and a queue needs two descriptors.
int uring_error();
inline bool uring_available() { return uring_error() == 0; }

}  // namespace xorder::io
