// Disks that fail, for tests of everything that uses one.
#pragma once

#include <atomic>
#include <cerrno>
#include <optional>

#include "io/disk_filter.hpp"

namespace xorder::test {

/// Lets the N-th transfer of a kind, file operation or reservation of space fail (counted from 0); counts
/// them all. fail_with() chooses the error, and whether all of its kind after it fail as well.
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
  void fail_with(int error, bool for_ever) { error_ = error, for_ever_ = for_ever; }

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
    if (!fails((read ? reads_ : writes_)++, read ? failing_read_ : failing_write_)) return 0;
    failed_ = true;
    return error_.value_or(EIO);
  }

  int before(Operation operation) override {
    if (operation == Operation::advise) return 0;  // a wish
    const bool reserves = operation == Operation::reserve;
    const bool no_room = reserves && fails(reservations_++, failing_reservation_);
    if (!fails(operations_++, failing_operation_) && !no_room) return 0;
    failed_ = true;
    failed_operation_ = operation;
    return error_.value_or(reserves ? ENOSPC : EIO);
  }

 private:
  bool fails(long number, long failing) const {
    return failing != never && (for_ever_ ? number >= failing : number == failing);
  }

  std::atomic<long> reads_ = 0, writes_ = 0, operations_ = 0, reservations_ = 0;
  long failing_read_ = never, failing_write_ = never, failing_operation_ = never,
       failing_reservation_ = never;
  std::optional<int> error_;
  bool for_ever_ = false;
  std::atomic<bool> failed_ = false;
  std::optional<Operation> failed_operation_;
};

}  // namespace xorder::test
