// Disks that fail, for tests of everything that uses one.
#pragma once

#include <atomic>
#include <cerrno>
#include <optional>

#include "io/disk_filter.hpp"

namespace xorder::test {

/// Lets the N-th transfer of a kind, file operation or reservation of space fail (counted from 0); counts
/// them all.
class FailingDisk final : public io::DiskFilter {
 public:
  using Kind = io::Transfer::Kind;

  /// Nothing fails.
  FailingDisk() : DiskFilter(io::system_disk()) {}
  static constexpr long never = -1;

  void fail_transfer(Kind kind, long number) {
    (kind == Kind::read ? failing_read_ : failing_write_) = number;
  }
  void fail_operation(long number) { failing_operation_ = number; }
  void fail_reservation(long number) { failing_reservation_ = number; }

  long reads() const { return reads_; }
  long writes() const { return writes_; }
  long operations() const { return operations_; }
  long reservations() const { return reservations_; }
  /// Whether it has failed.
  bool failed() const { return failed_; }
  /// Of an operation that has failed: which.
  std::optional<Operation> failed_operation() const { return failed_operation_; }

  int before(const io::Transfer& transfer) override {
    const bool read = transfer.kind == Kind::read;
    const long number = (read ? reads_ : writes_)++;
    if (number != (read ? failing_read_ : failing_write_)) return 0;
    failed_ = true;
    return EIO;
  }

  int before(Operation operation) override {
    if (operation == Operation::advise) return 0;  // a wish
    const bool reserves = operation == Operation::reserve;
    const bool no_room = reserves && reservations_++ == failing_reservation_;
    if (operations_++ != failing_operation_ && !no_room) return 0;
    failed_ = true;
    failed_operation_ = operation;
    return reserves ? ENOSPC : EIO;
  }

 private:
  std::atomic<long> reads_ = 0, writes_ = 0, operations_ = 0, reservations_ = 0;
  long failing_read_ = never, failing_write_ = never, failing_operation_ = never,
       failing_reservation_ = never;
  std::atomic<bool> failed_ = false;
  std::optional<Operation> failed_operation_;
};

}  // namespace xorder::test
