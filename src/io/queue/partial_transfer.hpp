// A transfer that may be partly done: what is left of its pieces, and when it is over.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>

#include "io/patience.hpp"
#include "io/queue/queue.hpp"

namespace xorder::io {

class PartialTransfer {
 public:
  PartialTransfer() = default;
  explicit PartialTransfer(const Transfer& transfer);

  const Transfer& transfer() const { return transfer_; }
  std::uint64_t offset() const { return transfer_.offset + passed_; }
  std::size_t passed() const { return passed_; }
  bool complete() const { return passed_ == total_; }
  /// The memory that is left, for readv and writev.
  const iovec* vectors() const { return &vectors_[first_]; }
  unsigned vector_count() const { return count_ - first_; }

  /// Records a system call's result: a number of bytes, or -errno. Returns whether the transfer is over;
  /// error() is then its result. If it is not over, the caller tries what is left. EINTR and EAGAIN end it
  /// only when patience_ is at an end.
  bool advance(std::int64_t result);
  int error() const { return error_; }

 private:
  bool finish(int error);

  Patience patience_;
  Transfer transfer_;
  std::array<iovec, 3> vectors_{};
  unsigned first_ = 0;
  unsigned count_ = 0;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
  int error_ = 0;
};

/// Carries out what is left, with preadv or pwritev.
Completion perform_rest(PartialTransfer& partial);

/// The completion of a transfer by system calls that is over. If the transfer went through the page cache,
/// trims that first.
Completion after_transfer(const PartialTransfer& partial);

}  // namespace xorder::io
