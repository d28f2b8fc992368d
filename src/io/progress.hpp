// How far a transfer has come: what is left of its pieces, and when it is done.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>

#include "io/queue.hpp"

namespace xorder::io {

class Progress {
 public:
  Progress() = default;
  explicit Progress(const Transfer& transfer);

  const Transfer& transfer() const { return transfer_; }
  std::uint64_t offset() const { return transfer_.offset + passed_; }
  std::size_t passed() const { return passed_; }
  bool complete() const { return passed_ == total_; }
  /// What is left, for readv and writev.
  const iovec* vectors() const { return &vectors_[first_]; }
  unsigned vector_count() const { return count_ - first_; }

  /// Takes account of a system call's result: a number of bytes, or -errno. Returns whether the transfer is
  /// over; error() then says how it went. If not, what is left is to be tried (again).
  bool advance(std::int64_t result);
  int error() const { return error_; }

 private:
  bool finish(int error);

  Transfer transfer_;
  std::array<iovec, 3> vectors_{};
  unsigned first_ = 0;
  unsigned count_ = 0;
  std::size_t passed_ = 0;
  std::size_t total_ = 0;
  int error_ = 0;
};

/// Carries out what is left, by preadv and pwritev.
Completion carry_rest(Progress& progress);

/// The completion of a transfer by system calls that is over: trims the page cache first, if it went through
/// that.
Completion after_transfer(const Progress& progress);

}  // namespace xorder::io
